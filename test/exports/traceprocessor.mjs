// Perfetto's own trace processor, compiled to WebAssembly, which an npm package carries
// with the script that its user interface loads it with.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

// open loads a trace, and returns a function that answers a query with its rows.
export async function open(folder, trace) {
  const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')));
  class Engine extends EngineBase {
    rpcSendRequestBytes(data) {
      port.onmessage({ data });
    }
  }
  const engine = new Engine();
  const port = { postMessage: (data) => engine.onRpcResponseBytes(data) };
  await start(folder, port);
  await engine.parse(trace);
  await engine.notifyEof();
  return async (sql) => {
    const { warn } = console;
    console.warn = () => {}; // of a field of results that is newer than this script
    const result = await engine.query(sql).finally(() => (console.warn = warn));
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) {
      rows.push(Object.fromEntries(result.columns().map((name) => [name, row.get(name)])));
    }
    return rows;
  };
}

// start runs the script as in a browser's worker, and gives it its end of the channel.
async function start(folder, port) {
  const wasm = readFileSync(join(folder, 'trace_processor.wasm'));
  class Request {
    open() {}
    send() {
      this.response = new Uint8Array(wasm).buffer;
      this.status = 200;
    }
  }
  // The file is the variant for 32-bit memory. The script takes it where a module that begins
  // with a 64-bit memory does not compile.
  const memorySection = 5;
  const memory32 = Object.create(WebAssembly, {
    Module: {
      value: function Module(bytes) {
        if (bytes[8] === memorySection) throw new Error('no 64-bit memory');
        return new WebAssembly.Module(bytes);
      },
    },
  });
  const scope = { console: { log() {}, warn() {}, error() {} }, WebAssembly: memory32, XMLHttpRequest: Request, WorkerGlobalScope: class {}, location: { href: 'file:///' } };
  scope.self = scope;
  vm.compileFunction(readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8'), Object.keys(scope))(...Object.values(scope));
  await new Promise((done) => setTimeout(done)); // the script's promises
  scope.onmessage({ data: port });
}
