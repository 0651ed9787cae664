// The extension with the API of stub: npm test

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, beforeEach, test as that } from "node:test";
import { fileURLToPath } from "node:url";
import { require, vscode } from "./vscode.mjs";

const { test, Uri } = vscode;
const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
const script = await readFile(path.join(root, "dist/extension.js"), "utf8");
let folder;

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gctrail-"));
  await mkdir(path.join(folder, "dist"));
  await writeFile(path.join(folder, "dist/parts.json"), '{"script":"sha256-S","style":"sha256-T"}');
  await writeFile(path.join(folder, "dist/worker.js"), "// worker");
  test.folder = path.join(folder, "workspace");
  await mkdir(path.join(test.folder, "Shop"), { recursive: true });
  await writeFile(path.join(test.folder, "Shop/Cache.cs"), "namespace Shop;\n\npublic sealed class Cache<T>\n{\n    public class Entry { }\n\n    public async Task<T> Load(int id)\n    {\n        return await Load(id - 1);\n    }\n}\n");
  await writeFile(path.join(test.folder, "Shop/Other.cs"), "namespace Shop;\n\nclass Other\n{\n    public int Load(int id) => 0;\n    // class Cache is elsewhere\n}\n\nrecord struct Entry(int N);\n");
  require("../dist/extension.js").activate({ extensionUri: Uri.file(folder), subscriptions: [] });
});
after(() => rm(folder, { recursive: true }));
beforeEach(() => {
  for (const list of [test.answers, test.said, test.called, test.symbols]) list.length = 0;
});

/** A panel that keeps what it is sent. */
function panel() {
  const said = test.emitter();
  const made = { sent: [], said, webview: { cspSource: "https://files.test", asWebviewUri: (uri) => `https://files.test${uri.path}`, onDidReceiveMessage: said.event, postMessage: async (m) => made.sent.push(m) }, onDidDispose: () => {} };
  return made;
}
test.panel = panel;

/** Opens a file in an editor. */
async function editor(name) {
  const made = panel();
  const { provider } = test.editors.get("gctrail.report");
  await provider.resolveCustomEditor(provider.openCustomDocument(Uri.file(name)), made);
  return made;
}

that("package.json and the extension have the same commands and editors", () => {
  assert.deepEqual(manifest.contributes.commands.map((c) => c.command).sort(), [...test.commands.keys()].sort());
  assert.deepEqual(manifest.contributes.customEditors.map((e) => e.viewType).sort(), [...test.editors.keys()].sort());
  const hidden = manifest.contributes.menus.commandPalette.map((entry) => `${entry.command} ${entry.when}`);
  assert.deepEqual(hidden, ["gctrail.collect gctrail.program", "gctrail.top gctrail.program"]);
});

that("the extension has no other module than vscode, for browsers", () => {
  assert.equal(manifest.main, manifest.browser);
  assert.deepEqual([...script.matchAll(/require\(([^)]*)\)/g)].map((m) => m[1]), ['"vscode"']);
  assert.equal(manifest.dependencies, undefined);
});

that("an editor's policy allows its own scripts alone", async () => {
  const { webview } = await editor(path.join(test.folder, "Shop/Cache.cs"));
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(webview.html)[1];
  const nonce = /'nonce-([0-9a-f]{32})'/.exec(policy)[1];
  assert.match(policy, /^default-src 'none'; script-src 'nonce-[0-9a-f]{32}' 'sha256-S' 'wasm-unsafe-eval'; style-src https:\/\/files.test 'sha256-T'; connect-src https:\/\/files.test;/);
  assert.deepEqual([...webview.html.matchAll(/<script(?! type="text\/plain")([^>]*)>/g)].map((m) => m[1].includes(`nonce="${nonce}"`)), [true]);
  const other = await editor(path.join(test.folder, "Shop/Cache.cs"));
  assert.ok(!other.webview.html.includes(nonce));
  assert.deepEqual(webview.options.localResourceRoots.map(String), [String(Uri.file(path.join(folder, "dist")))]);
});

that("a page gets the bytes of its file, and words where there is none", async () => {
  const name = path.join(test.folder, "Shop/Cache.cs");
  const made = await editor(name);
  await made.said.fire({ kind: "ready" });
  assert.equal(made.sent[0].kind, "open");
  assert.equal(made.sent[0].files[0].name, "Cache.cs");
  const { data } = made.sent[0].files[0];
  assert.equal(data.constructor, Uint8Array); // VS Code sends a Buffer as JSON
  assert.deepEqual(Buffer.from(data), await readFile(name));
  const none = await editor(path.join(test.folder, "none.nettrace"));
  await none.said.fire({ kind: "ready" });
  assert.equal(none.sent[0].kind, "failed");
  assert.match(none.sent[0].why, /ENOENT/);
});

that("what is saved is where the person chose", async () => {
  const made = await editor(path.join(test.folder, "app.nettrace"));
  const target = path.join(folder, "saved.json");
  test.answers.push(Uri.file(target), undefined);
  await made.said.fire({ kind: "save", name: "app.json", data: new TextEncoder().encode("{}").buffer });
  assert.equal(test.said[0][1].defaultUri.fsPath, path.join(test.folder, "app.json"));
  assert.equal(await readFile(target, "utf8"), "{}");
  test.answers.push(undefined);
  await made.said.fire({ kind: "save", name: "app.json", data: new ArrayBuffer(1) });
  assert.equal(test.said.at(-1)[0], "save");
});

that("a comparison has the files from before first", async () => {
  const uris = ["b.nettrace", "a.nettrace", "c.nettrace"].map((name) => Uri.file(path.join(test.folder, name)));
  for (const uri of uris) await writeFile(uri.fsPath, path.basename(uri.fsPath));
  test.answers.push((items) => items.filter((item) => item.label === "c.nettrace"));
  await test.commands.get("gctrail.compare")(uris[0], uris);
  const made = test.panels.at(-1);
  await made.said.fire({ kind: "ready" });
  assert.deepEqual(made.sent[0].task, { kind: "diff", before: 1 });
  assert.deepEqual(made.sent[0].files.map((f) => f.name), ["c.nettrace", "a.nettrace", "b.nettrace"]);
  test.answers.push((items) => items); // all from before
  await test.commands.get("gctrail.compare")(uris[0], uris);
  assert.match(test.said.at(-1)[1], /one from after/);
  await test.commands.get("gctrail.together")(uris[0], uris);
  await test.panels.at(-1).said.fire({ kind: "ready" });
  assert.deepEqual(test.panels.at(-1).sent[0].task, { kind: "page" });
});

/** Asks for the source of a name, and returns where it leads: file:line, or what is said. */
async function source(name) {
  const made = await editor(path.join(test.folder, "app.nettrace"));
  await made.said.fire({ kind: "source", name });
  const shown = test.called.find(([called]) => called === "showTextDocument");
  return shown ? `${path.basename(shown[1])}:${shown[2].selection.start.line + 1}` : test.said.at(-1);
}

for (const [name, want] of [
  ["Shop.Cache`1[System.__Canon]", "Cache.cs:3"],
  ["Shop.Cache<System.String>[]", "Cache.cs:3"],
  ["Shop.Cache`1[System.__Canon].Load(int32)", "Cache.cs:7"],
  ["Shop.Other.Load(int32)", "Other.cs:5"],
  ["Shop.Cache`1+<Load>d__3[System.__Canon].MoveNext()", "Cache.cs:7"],
  ["Shop.Other+<>c.<Load>b__0(int32)", "Other.cs:5"],
  ["Shop.Other..ctor()", "Other.cs:3"],
  ["Shop.dll!Shop.Other+<Lines>d__0.MoveNext()", "Other.cs:3"],
]) {
  that(`without symbols, the source of ${name} is searched`, async () => assert.equal(await source(name), want));
}

that("several places are asked about, and none is said", async () => {
  test.answers.push((items) => items[1]);
  assert.match(await source("Shop.Cache+Entry"), /^\w+\.cs:\d+$/);
  assert.equal(test.said[0][0], "pick");
  assert.deepEqual(test.said[0][1].map((item) => item.label).sort(), ["public class Entry { }", "record struct Entry(int N);"]);
  test.called.length = 0;
  assert.deepEqual(await source("System.String.Join(class System.String[])"), ["information", "This workspace has no source of System.String.Join(class System.String[])."]);
  assert.deepEqual(await source("System.String"), ["information", "This workspace has no source of System.String."]);
});

that("symbols of the language's extension come first, by the type around a method", async () => {
  const at = (line) => new vscode.Location(Uri.file(path.join(test.folder, "Shop/Cache.cs")), new vscode.Range(new vscode.Position(line, 0), new vscode.Position(line, 4)));
  test.symbols.push(
    { name: "Load(int)", containerName: "Shop.Cache<T>", kind: vscode.SymbolKind.Method, location: at(6) },
    { name: "Load(int)", containerName: "Shop.Other", kind: vscode.SymbolKind.Method, location: at(40) },
    { name: "Load", containerName: "Shop", kind: vscode.SymbolKind.Class, location: at(50) },
  );
  assert.equal(await source("Shop.Cache`1[System.__Canon].Load(int32)"), "Cache.cs:7");
});

const processes = [
  { pid: 812, name: "Shop.Web", runtime: "10.0.1", container: null, command_line: "dotnet Shop.Web.dll", problem: null },
  { pid: 900, name: "Other", runtime: null, container: null, command_line: null, problem: "no answer" },
].map((line) => `${JSON.stringify(line)}\n`).join("");

that("top and collect run the program of PATH, or of the setting", async () => {
  const bin = path.join(folder, "bin");
  await mkdir(bin);
  await writeFile(path.join(bin, process.platform === "win32" ? "gctrail.exe" : "gctrail"), "");
  const { PATH } = process.env;
  const { getBuiltinModule } = process;
  const run = test.commands.get("gctrail.top");
  try {
    process.env.PATH = path.join(folder, "none");
    test.answers.push(undefined);
    await run();
    assert.match(test.said[0][1], /not installed/);
    process.env.PATH = [path.join(folder, "none"), bin].join(path.delimiter);
    await run();
    assert.equal(path.dirname(test.called.at(-1)[1].shellPath), bin);
    assert.deepEqual(test.called.at(-1)[1].shellArgs, ["top"]);
    test.settings["gctrail.path"] = "/opt/gctrail";
    const target = Uri.file(path.join(folder, "out.nettrace"));
    test.answers.push((items) => items.at(-1), "Shop.Web", "5", target);
    await test.commands.get("gctrail.collect")();
    assert.match(test.said.find(([kind]) => kind === "pick")[1][0].detail, /^gctrail ps: .*ENOENT/);
    const [, execution] = test.called.find(([called]) => called === "executeTask");
    assert.equal(execution.task.execution.process, "/opt/gctrail");
    assert.deepEqual(execution.task.execution.args, ["collect", "-n", "Shop.Web", "--duration", "5s", "-o", target.fsPath]);
    await test.ended.fire({ execution: {}, exitCode: 0 }); // another task's
    assert.ok(!test.called.some(([called]) => called === "vscode.open"));
    await test.ended.fire({ execution, exitCode: 0 });
    assert.deepEqual(test.called.at(-1), ["vscode.open", target]);
    process.getBuiltinModule = () => ({ execFile: (program, args, options, done) => done(null, processes) });
    test.answers.push((items) => items.find((item) => item.label === "Shop.Web"), undefined);
    await test.commands.get("gctrail.collect")();
    assert.deepEqual(test.said.findLast(([kind]) => kind === "pick")[1].map((item) => [item.process?.id, item.label, item.description, item.detail]), [
      ["812", "Shop.Web", "812 · 10.0.1", "dotnet Shop.Web.dll"], [undefined, "Another process...", undefined, "Enter its id or name"],
    ]);
    vscode.workspace.isTrusted = false;
    test.called.length = 0;
    await run();
    assert.deepEqual(test.called, []);
  } finally {
    vscode.workspace.isTrusted = true;
    process.env.PATH = PATH;
    process.getBuiltinModule = getBuiltinModule;
    delete test.settings["gctrail.path"];
  }
});
