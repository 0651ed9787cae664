// Serves the editors of the extension in a folder, so that a browser can run them:
//
//     node host.mjs FOLDER SAVES
//
// It prints its address. /editor?file=PATH is the document of an editor, /several?kind=compare&file=A&file=B one of
// several files; pages send messages to /said/N, and receive the next from /next/N. Files are
// saved in the folder SAVES. It ends when its input does.

import { createServer } from "node:http";
import { createReadStream } from "node:fs";
import path from "node:path";
import { require, vscode } from "./vscode.mjs";

const [folder, saves] = process.argv.slice(2).map((name) => path.resolve(name));
const { test, Uri } = vscode;
const extension = Uri.file(folder);
const types = { ".js": "text/javascript", ".css": "text/css", ".gz": "application/octet-stream", ".html": "text/html; charset=utf-8" };
const panels = [];

/** Makes a panel whose webview is in the browser. */
function panel() {
  const said = test.emitter();
  const queue = [];
  const waiting = [];
  const n = panels.length;
  const made = {
    said,
    next: () => new Promise((done) => (queue.length > 0 ? done(queue.shift()) : waiting.push(done))),
    webview: {
      cspSource: address,
      asWebviewUri: (uri) => `${address}/files/${path.posix.relative(extension.path, uri.path)}`,
      onDidReceiveMessage: said.event,
      async postMessage(message) {
        if (waiting.length > 0) waiting.shift()(message);
        else queue.push(message);
        return true;
      },
      set html(text) {
        // The browser's API is told which panel it is of, as VS Code's is.
        made.document = text.replace("<html ", `<html data-panel="${n}" `);
      },
    },
    onDidDispose: () => {},
  };
  panels.push(made);
  return made;
}

/** Bytes are base64 in JSON. */
const encode = (message) => JSON.stringify(message, (_, value) => (ArrayBuffer.isView(value) ? { bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") } : value));
const decode = (text) => JSON.parse(text, (_, value) => (typeof value?.bytes === "string" ? Uint8Array.from(Buffer.from(value.bytes, "base64")).buffer : value));

const routes = {
  async editor(_, query) {
    const made = panel();
    const { provider } = test.editors.get("gctrail.report");
    const document = provider.openCustomDocument(Uri.file(query.get("file")));
    await provider.resolveCustomEditor(document, made);
    return [made.document, ".html"];
  },
  async several(_, query) {
    const uris = query.getAll("file").map((name) => Uri.file(name));
    test.answers.push((items) => items.filter((item) => item.picked)); // as it is proposed
    await test.commands.get(`gctrail.${query.get("kind")}`)(uris[0], uris);
    test.answers.length = 0;
    return [panels.at(-1).document, ".html"];
  },
  async said(n, _, body) {
    const message = decode(body);
    if (message.kind === "save") test.answers.push((options) => Uri.file(path.join(saves, path.posix.basename(options.defaultUri.path))));
    await panels[n].said.fire(message);
    return ["", ".html"];
  },
  async next(n) {
    return [encode(await panels[n].next()), ".js"];
  },
  async shown() {
    return [JSON.stringify(test.said.map(([kind, text]) => [kind, String(text)])), ".js"];
  },
};

const server = createServer(async (request, response) => {
  const url = new URL(request.url, address);
  const [, route, rest] = /^\/(\w+)\/?(.*)$/.exec(url.pathname) ?? [];
  try {
    if (route === "files") {
      response.setHeader("Content-Type", types[path.extname(rest)] ?? "text/plain");
      createReadStream(path.join(folder, rest)).pipe(response);
      return;
    }
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const [text, type] = await routes[route](rest, url.searchParams, body);
    response.setHeader("Content-Type", types[type]);
    response.end(text);
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error.stack));
  }
});

let address = "";
test.panel = panel;
require(path.join(folder, "dist/extension.js")).activate({ extensionUri: extension, subscriptions: [] });
server.listen(0, "127.0.0.1", () => {
  address = `http://127.0.0.1:${server.address().port}`;
  console.log(address);
});
process.stdin.on("end", () => process.exit()).resume();
