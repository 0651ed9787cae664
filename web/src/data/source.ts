import { chunkSize, unpack, unrolled, type Detail } from "./details";
import type { Allocations, Header, Objects, Requests } from "./header";
import { inflateBytes, inflateText } from "./inflate";
import { lowerBound } from "./order";
import { breathe, nextTask } from "./pause";
import { Process, type Quoted } from "./process";

/** All that a page shows. */
export interface Data {
  head: Header;
  processes: Process[];
  /** All that is known of a collection, null where the page does not hold it. */
  detail(process: Process, row: number): Promise<Detail | null>;
  allocations(process: Process): Promise<Allocations | null>;
  objects(process: Process): Promise<Objects | null>;
  requests(process: Process): Promise<Requests | null>;
  /** What is said below the page. */
  origin: string;
  /** How many collections a finding can show, where that is bounded. */
  quotes?: number;
  /** Calls back when collections were added, or when what is found has changed. */
  follow?(changed: () => void): void;
}

const text = new TextDecoder();

/** Reads the columns of all processes. */
export async function decode(data: Uint8Array): Promise<{ head: Header; processes: Process[] }> {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const head = JSON.parse(text.decode(data.subarray(4, 4 + length))) as Header;
  await nextTask();
  const processes: Process[] = [];
  let at = 4 + length;
  for (const trace of head.traces) {
    for (let i = 0; i < trace.processes.length; i++) {
      const process = new Process(head, trace, trace.processes[i], trace.report.processes[i] ?? null, processes.length);
      at = await process.decode(data, at);
      processes.push(process);
    }
  }
  return { head, processes };
}

/** Where the data blocks of a page come from. */
export interface Blocks {
  /** A block, decompressed. */
  whole(id: string): Promise<Uint8Array>;
  /** Some bytes of a block, as they are stored. */
  part(id: string, from: number, length: number): Promise<Uint8Array>;
}

/** The data blocks of a page that is a file. */
export async function fromPage(): Promise<Data> {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  return fromBlocks({
    whole: (id) => inflateText(text(id)),
    async part(id, from, length) {
      // Four characters are three bytes.
      const first = from - (from % 3);
      const decoded = atob(text(id).slice((first / 3) * 4, Math.ceil((from + length) / 3) * 4));
      return Uint8Array.from({ length }, (_, i) => decoded.charCodeAt(from - first + i));
    },
  }, "This page holds its data and connects to nothing.");
}

/** Data in blocks that are fetched when they are needed. */
export async function fromBlocks(blocks: Blocks, origin: string): Promise<Data> {
  const { head, processes } = await decode(await blocks.whole("columns"));
  /** What a block has of a process, of those that are in it. */
  const of = (id: "allocations" | "objects" | "requests") => {
    const block = lazy(async () => lines(await blocks.whole(id)));
    return async (process: Process): Promise<unknown> => {
      if (!process.header[id]) return null;
      return (await block()).parse(processes.slice(0, process.index).filter((p) => p.header[id]).length);
    };
  };
  const quoted = lazy(async () => lines(await blocks.whole("quoted")));
  for (const process of processes) process.quoted = async () => (await quoted()).parse(process.index) as Quoted | null;
  const details = detailsOf(blocks, head, processes);
  return {
    head,
    processes,
    origin,
    detail: details,
    allocations: of("allocations") as Data["allocations"],
    objects: of("objects") as Data["objects"],
    requests: of("requests") as Data["requests"],
  };
}

/** Reads the details of a collection from the chunk that has them, and keeps that chunk. */
function detailsOf(blocks: Blocks, head: Header, processes: Process[]): Data["detail"] {
  const all = processes.map((p) => Uint32Array.from(unrolled(p.header.details)));
  let process: Process | null = null;
  let chunk = -1;
  let kept: Promise<Detail[]> = Promise.resolve([]);
  return async (of, row) => {
    const rows = all[of.index];
    const place = lowerBound(rows, row);
    if (rows[place] !== row) return null;
    const at = Math.floor(place / chunkSize);
    if (of !== process || at !== chunk) {
      [process, chunk] = [of, at];
      const sum = (sizes: number[]) => sizes.reduce((a, b) => a + b, 0);
      const before = processes.slice(0, of.index).reduce((n, p) => n + sum(p.header.chunks), sum(of.header.chunks.slice(0, at)));
      kept = blocks.part("details", before, of.header.chunks[at]).then(inflateBytes)
        .then((data) => unpack(head, of, [...rows.subarray(at * chunkSize, (at + 1) * chunkSize)], data));
    }
    return (await kept)[place - at * chunkSize];
  };
}

function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Lines of JSON, each of which is parsed when it is needed. */
async function lines(data: Uint8Array): Promise<{ parse(line: number): unknown }> {
  const ends: number[] = [];
  for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) {
    ends.push(at);
    await breathe();
  }
  return { parse: (line) => JSON.parse(text.decode(data.subarray(line > 0 ? ends[line - 1] + 1 : 0, ends[line]))) };
}
