// The worker: runs the module, which reads files while nothing else happens here. The page
// ends the worker to cancel it.

import type { Answer, Format, Progress, Request } from "./request";

/** What Go's wasm_exec.js defines, which the worker begins with. */
declare const Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };

/** What the module defines, and calls when it has. */
interface Scope {
  gctrail(request: Request, report: Progress): Uint8Array<ArrayBuffer> | { error: string } | undefined;
  ready(program: string, formats: Format[]): void;
  postMessage(answer: Answer, transfer?: Transferable[]): void;
  onmessage: (event: MessageEvent<WebAssembly.Module | Request>) => void;
}

const scope = self as unknown as Scope;
const every = 50; // milliseconds between reports of progress

scope.ready = (program, formats) => scope.postMessage({ kind: "ready", program, formats });

scope.onmessage = ({ data }) => {
  if (data instanceof WebAssembly.Module) void start(data);
  else answer(data);
};

async function start(module: WebAssembly.Module): Promise<void> {
  try {
    const go = new Go();
    await go.run(await WebAssembly.instantiate(module, go.importObject));
  } catch (error) {
    scope.postMessage({ kind: "failed", why: String(error) });
  }
}

function answer(request: Request): void {
  let last = performance.now();
  const result = scope.gctrail(request, (read, size, collections) => {
    const now = performance.now();
    if (now - last < every) return;
    last = now;
    scope.postMessage({ kind: "progress", read, size, collections });
  });
  // A module that has ended returns nothing: there was no more memory.
  if (!result) scope.postMessage({ kind: "failed", why: "this takes more memory than the browser has: use gctrail itself" });
  else if ("error" in result) scope.postMessage({ kind: "failed", why: result.error });
  else scope.postMessage({ kind: "done", data: result.buffer }, [result.buffer]);
}
