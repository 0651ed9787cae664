// The module, and the worker that runs it.

import type { Answer, Format, Progress, Request } from "./request";

/** Reads traces, one at a time. */
export class Engine {
  program = "";
  formats: Format[] = [];
  private readonly module = load();
  private readonly script = URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" }));
  private worker: Promise<Worker>;
  private turn = 0; // of the request that is to be answered
  private running: { worker: Worker; fail: (error: Error) => void } | null = null;

  private warming: Worker | null = null;
  private asked = false; // for a trace, so that nothing else is to be read

  constructor() {
    this.worker = this.start();
    void this.worker.then(() => this.warmUp(), () => {});
  }

  /** Waits until the module is there. */
  async ready(): Promise<void> {
    await this.worker;
  }

  /** Carries a request out, and ends an earlier one. */
  async run(request: Request, progress: Progress): Promise<ArrayBuffer> {
    this.asked = true;
    this.warming?.terminate();
    this.cancel();
    const { turn } = this;
    const worker = await this.worker;
    if (turn !== this.turn) throw new Cancelled();
    try {
      return await new Promise((done, fail) => {
        this.running = { worker, fail };
        hear(worker, fail, (answer) => {
          if (answer.kind === "progress") progress(answer.read, answer.size, answer.collections);
          if (answer.kind === "done") done(answer.data);
          if (answer.kind === "failed") fail(new Error(answer.why));
        });
        worker.postMessage(request);
      });
    } finally {
      if (this.running?.worker === worker) {
        this.replace(); // memory that the module has taken stays its own
        this.running = null;
      }
    }
  }

  /** Ends what is running, which then fails. */
  cancel(): void {
    const { running } = this;
    this.turn++;
    if (!running) return;
    this.replace();
    this.running = null;
    running.fail(new Cancelled());
  }

  private replace(): void {
    this.running?.worker.terminate();
    this.worker = this.start();
  }

  /**
   * Reads small traces while nobody waits. Browsers optimize functions that have run for a while, for
   * all workers of a module: otherwise the first trace would take three times as long as the next.
   */
  private async warmUp(): Promise<void> {
    const traces = [...document.querySelectorAll<HTMLElement>(".warm")];
    if (traces.length === 0) return;
    const worker = await this.start();
    this.warming = worker;
    if (this.asked) worker.terminate();
    const files = traces.map((e) => new File([decoded(e.textContent!)], e.title));
    const left = Array.from({ length: rounds }, () => files).flat();
    const next = () => {
      const file = left.pop();
      if (file) worker.postMessage({ kind: "page", files: [file], redact: false } satisfies Request);
      else worker.terminate();
    };
    hear(worker, () => worker.terminate(), (answer) => {
      if (answer.kind === "done") next();
    });
    next();
  }

  private async start(): Promise<Worker> {
    const module = await this.module;
    const worker = new Worker(this.script);
    return new Promise((done, fail) => {
      hear(worker, fail, (answer) => {
        if (answer.kind === "failed") fail(new Error(answer.why));
        if (answer.kind !== "ready") return;
        ({ program: this.program, formats: this.formats } = answer);
        done(worker);
      });
      worker.postMessage(module);
    });
  }
}

/** Why a request that was cancelled has no result. */
export class Cancelled extends Error {}

function hear(worker: Worker, fail: (error: Error) => void, take: (answer: Answer) => void): void {
  worker.onmessage = (event: MessageEvent<Answer>) => take(event.data);
  worker.onerror = (event) => fail(new Error(event.message || "the worker does not start"));
}

/** How often each of the small traces is read. */
const rounds = 8;

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** The text of a block of the page. */
function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** Compiles the module: of this page, or of the file beside it. */
async function load(): Promise<WebAssembly.Module> {
  const inside = text("module");
  const { at, module } = document.documentElement.dataset;
  const bytes = inside ? decoded(inside) : new Uint8Array(await beside(at ?? `gctrail.wasm.gz?${module}`));
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b; // some servers have browsers unpack it
  if (!packed) return WebAssembly.compile(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

/** Fetches a file. Its query makes browsers fetch it anew with each version of the page. */
async function beside(name: string): Promise<ArrayBuffer> {
  if (location.protocol === "file:") throw new Error("browsers let no page that is opened from disk read the files beside it. Open gctrail.html, which has everything in one file, or put this folder on a server.");
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}
