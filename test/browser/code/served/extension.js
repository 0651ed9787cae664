// The file system that code_test.go serves: served:/NAME is a file of its folder.
"use strict";
const vscode = require("vscode");

exports.activate = ({ extensionUri, subscriptions }) => {
  const folder = vscode.Uri.joinPath(extensionUri, "../files").toString(true);
  const get = async (path) => {
    const response = await fetch(folder + path);
    if (!response.ok) throw vscode.FileSystemError.FileNotFound(path);
    return response;
  };
  const names = async (path) => (await get(path.replace(/\/?$/, "/"))).json(); // of a folder: [name, type, size]
  const changed = new vscode.EventEmitter();
  const refuse = async () => {
    throw vscode.FileSystemError.NoPermissions();
  };
  const files = {
    createDirectory: refuse,
    writeFile: refuse,
    delete: refuse,
    rename: refuse,
    onDidChangeFile: changed.event,
    watch: () => ({ dispose() {} }),
    async stat({ path }) {
      if (path === "/") return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
      const at = path.lastIndexOf("/");
      const found = (await names(path.slice(0, at + 1))).find(([name]) => name === path.slice(at + 1));
      if (!found) throw vscode.FileSystemError.FileNotFound(path);
      return { type: found[1], ctime: 0, mtime: 0, size: found[2] };
    },
    readDirectory: async ({ path }) => (await names(path)).map(([name, type]) => [name, type]),
    readFile: async ({ path }) => new Uint8Array(await (await get(path)).arrayBuffer()),
  };
  async function* walk(uri) {
    for (const [name, type] of await files.readDirectory(uri)) {
      const of = vscode.Uri.joinPath(uri, name);
      if (type === vscode.FileType.Directory) yield* walk(of);
      else yield of;
    }
  }
  // Files that end as a pattern such as **/*.{cs,fs} says: who asks would read the others, too.
  const search = {
    async provideFileSearchResults(_, { folder: root, includes = [] }) {
      const endings = includes.flatMap((glob) => /\{(.*)\}$/.exec(glob)?.[1].split(",") ?? []);
      const found = [];
      for await (const uri of walk(root)) if (endings.some((ending) => uri.path.endsWith(`.${ending}`))) found.push(uri);
      return found;
    },
  };
  subscriptions.push(
    vscode.workspace.registerFileSystemProvider("served", files, { isReadonly: true, isCaseSensitive: true }),
    vscode.workspace.registerFileSearchProvider("served", search),
  );
};
