// What the extension uses of VS Code's API, on a real file system. What a person would choose is
// set by tests: answers has the results of dialogues in order, and said what was shown.
"use strict";
const fs = require("node:fs/promises");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Uri {
  constructor(scheme, address) {
    this.scheme = scheme;
    this.path = address;
  }
  static file(name) {
    return new Uri("file", pathToFileURL(name).pathname);
  }
  static parse(text) {
    const url = new URL(text);
    return new Uri(url.protocol.slice(0, -1), url.pathname);
  }
  static joinPath(base, ...parts) {
    return new Uri(base.scheme, path.posix.join(base.path, ...parts));
  }
  get fsPath() {
    return fileURLToPath(`file://${this.path}`);
  }
  toString() {
    return `${this.scheme}://${this.path}`;
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, end) {
    Object.assign(this, { start, end });
  }
}

class Location {
  constructor(uri, range) {
    Object.assign(this, { uri, range });
  }
}

class ProcessExecution {
  constructor(process, args) {
    Object.assign(this, { process, args });
  }
}

class Task {
  constructor(definition, scope, name, source, execution) {
    Object.assign(this, { definition, scope, name, source, execution });
  }
}

/** Calls listeners; an event of VS Code is the function that adds one. */
function emitter() {
  const listeners = new Set();
  const event = (listener) => {
    listeners.add(listener);
    return { dispose: () => listeners.delete(listener) };
  };
  return { event, fire: (value) => Promise.all([...listeners].map((listener) => listener(value))) };
}

/** What tests set and look at. */
const test = {
  emitter, answers: [], said: [], called: [], editors: new Map(), commands: new Map(), symbols: [], settings: {}, panels: [], folder: undefined, panel: undefined,
  ended: emitter(),
};

async function asked(kind, ...args) {
  test.said.push([kind, ...args]);
  const answer = test.answers.shift();
  return typeof answer === "function" ? answer(...args) : answer;
}

async function* walk(folder) {
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(name);
    else yield name;
  }
}

const own = {
  setContext: (key, value) => test.called.push(["setContext", key, value]),
  "vscode.executeWorkspaceSymbolProvider": () => test.symbols,
};

module.exports = {
  test, Uri, Position, Range, Location, ProcessExecution, Task,
  FileType: { Unknown: 0, File: 1, Directory: 2 },
  ViewColumn: { Active: -1 },
  ProgressLocation: { Notification: 15 },
  TaskScope: { Workspace: 2 },
  TaskRevealKind: { Always: 1 },
  SymbolKind: { Module: 1, Class: 4, Method: 5, Property: 6, Constructor: 8, Enum: 9, Interface: 10, Function: 11, Struct: 22 },
  commands: {
    registerCommand(name, run) {
      test.commands.set(name, run);
      return { dispose: () => test.commands.delete(name) };
    },
    async executeCommand(name, ...args) {
      if (own[name]) return own[name](...args);
      test.called.push([name, ...args]);
      return test.commands.get(name)?.(...args);
    },
  },
  env: { openExternal: async (uri) => test.called.push(["openExternal", uri.toString()]) },
  tasks: {
    async executeTask(task) {
      const execution = { task };
      test.called.push(["executeTask", execution]);
      return execution;
    },
    onDidEndTaskProcess: test.ended.event,
  },
  window: {
    tabGroups: { all: [], close: async (tabs) => test.called.push(["close", tabs]) },
    registerCustomEditorProvider(type, provider, options) {
      test.editors.set(type, { provider, options });
      return { dispose: () => test.editors.delete(type) };
    },
    createWebviewPanel(type, title) {
      const panel = test.panel(title);
      test.panels.push(panel);
      return panel;
    },
    createTerminal: (options) => ({ show: () => test.called.push(["terminal", options]) }),
    showOpenDialog: (options) => asked("open", options),
    showSaveDialog: (options) => asked("save", options),
    showInputBox: (options) => asked("input", options),
    showQuickPick: async (items, options) => asked("pick", await items, options),
    showInformationMessage: (...words) => asked("information", ...words),
    showWarningMessage: (...words) => asked("warning", ...words),
    showErrorMessage: (...words) => asked("error", ...words),
    showTextDocument: async (uri, options) => test.called.push(["showTextDocument", uri.fsPath, options]),
    withProgress: (options, run) => run({ report: () => {} }, { isCancellationRequested: false }),
  },
  workspace: {
    isTrusted: true,
    get workspaceFolders() {
      return test.folder && [{ uri: Uri.file(test.folder) }];
    },
    asRelativePath: (uri) => path.relative(test.folder ?? "/", uri.fsPath),
    getConfiguration: (section) => ({ get: (key) => test.settings[`${section}.${key}`] }),
    async findFiles(_, __, most) {
      const found = [];
      for await (const name of walk(test.folder)) if (/\.(cs|fs|vb)$/.test(name) && found.length < most) found.push(Uri.file(name));
      return found;
    },
    fs: {
      readFile: (uri) => fs.readFile(uri.fsPath), // a Buffer, as VS Code has it
      writeFile: (uri, data) => fs.writeFile(uri.fsPath, data),
      async stat(uri) {
        const of = await fs.stat(uri.fsPath);
        return { size: of.size, type: of.isDirectory() ? 2 : 1 };
      },
    },
  },
};
