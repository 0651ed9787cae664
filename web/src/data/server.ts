// What gctrail serve has: traces, running processes, uploads.

import { named } from "./details";
import type { Document } from "./report";
import { inflateStream } from "./inflate";
import type { Quoted } from "./process";
import { decode, fromBlocks, type Data } from "./source";

export interface Source {
  kind: "file" | "process";
  id: number;
  name: string;
  pid?: number;
  live: boolean;
  collections: number;
  // Of files, when they were read:
  bytes?: number;
  process?: string;
  start?: string;
  duration_ms?: number;
  // Of both:
  verdict?: string;
  problem?: string;
}

export interface List {
  watching: boolean;
  max_upload_bytes: number;
  opener: boolean; // the page that opens traces without a server is there
  sources: Source[];
}

const token = new URLSearchParams(location.search).get("t") ?? "";
const origin = "Served by gctrail.";

/** Whether the page is from a server, rather than a file with data. */
export function onServer(): boolean {
  return document.getElementById("columns") === null;
}

/** Goes to the list of what there is. */
export function home(): void {
  location.hash = "";
  location.reload();
}

export function show(source: Source): void {
  location.hash = `source=${source.kind}-${source.id}`;
  location.reload();
}

function address(path: string, query: Record<string, string> = {}): string {
  return `${path}?${new URLSearchParams({ t: token, ...query })}`;
}

async function get(path: string, query?: Record<string, string>, request?: RequestInit): Promise<Response> {
  const response = await fetch(address(path, query), request);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

export async function list(): Promise<List> {
  return (await get("/list")).json();
}

/** Sends a trace, and returns what it became. */
export async function upload(file: File): Promise<Source> {
  const { id } = (await (await get("/upload", { name: file.name }, { method: "POST", body: file })).json()) as { id: number };
  return { kind: "file", id, name: file.name, live: false, collections: 0 };
}

/** What a heap snapshot of a process costs, in a few words. */
export async function dumpCost(of: Source): Promise<string> {
  return ((await (await get(`/process/${of.id}/dump`)).json()) as { cost: string }).cost;
}

/** A heap snapshot that was taken. */
export interface Dump {
  id: number;
  path: string;
  about: string;
}

/** Takes a heap snapshot of a process. */
export async function dump(of: Source): Promise<Dump> {
  return (await get(`/process/${of.id}/dump`, {}, { method: "POST" })).json();
}

export async function fromServer(source: string): Promise<Data> {
  const [kind, id] = source.split("-");
  if (kind === "file") return fromFile(id);
  return fromProcess(id);
}

/** A trace. */
async function fromFile(id: string): Promise<Data> {
  const block = (name: string) => get(`/file/${id}/${name}`);
  let stored: Promise<ArrayBuffer> | undefined;
  return fromBlocks({
    whole: async (name) => inflateStream((await block(name)).body!),
    async part(name, from, length) {
      stored ??= block(name).then((response) => response.arrayBuffer());
      return new Uint8Array(await stored, from, length);
    },
  }, origin);
}

/** A running process: its collections so far, and those that follow. */
async function fromProcess(id: string): Promise<Data> {
  let response = await get(`/process/${id}/columns`);
  while (response.headers.get("Gctrail-Next") === "0") {
    await new Promise((done) => setTimeout(done, 1000));
    response = await get(`/process/${id}/columns`);
  }
  const next = response.headers.get("Gctrail-Next") ?? "0";
  const { head, processes } = await decode(await inflateStream(response.body!));
  const process = processes[0];
  process.quoted = async () => (await get(`/process/${id}/quoted`)).json() as Promise<Quoted>;
  return {
    head,
    processes,
    origin,
    quotes: 4096, // maxQuoted of internal/web
    async detail(of, row) {
      return named(head, (await (await get(`/process/${id}/gc/${of.get("number")[row]}`)).json()) as (number | null)[] | null);
    },
    allocations: async () => null,
    objects: async () => null,
    requests: async () => null,
    follow(changed) {
      const events = new EventSource(address(`/process/${id}/live`, { from: next }));
      const on = (kind: string, take: (data: string) => void) => events.addEventListener(kind, (event) => take((event as MessageEvent<string>).data));
      let due = 0;
      let latest: Document | null = null;
      const soon = () => {
        due ||= window.setTimeout(() => {
          due = 0;
          if (latest) {
            process.trace.report = latest;
            process.report = latest.processes[0];
          }
          changed();
        }, 1000);
      };
      on("rows", (data) => {
        process.append(JSON.parse(data) as (number | null)[][]);
        soon();
      });
      on("phases", (data) => {
        const { phases } = process.header;
        for (const of of JSON.parse(data) as typeof phases) if (!phases.some((p) => p.number === of.number)) phases.push(of);
        process.version++;
        soon();
      });
      on("state", (data) => {
        latest = JSON.parse(data) as Document; // what is shown changes all at once
        soon();
      });
      on("gone", () => location.reload());
      on("ended", () => events.close());
    },
  };
}
