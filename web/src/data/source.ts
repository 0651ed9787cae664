import type { Allocations, Detail, Header } from "./header";
import { inflateText } from "./inflate";
import { breathe, nextTask } from "./pause";
import { Process, type Quoted } from "./process";

/** All that a page shows. */
export interface Data {
  head: Header;
  processes: Process[];
  /** All that is known of a collection, null where the page does not hold it. */
  detail(process: Process, row: number): Promise<Detail | null>;
  allocations(process: Process): Promise<Allocations | null>;
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

/** The data blocks of a page that is a file. */
export async function fromPage(): Promise<Data> {
  const block = (id: string) => inflateText(document.getElementById(id)?.textContent ?? "");
  return fromBlocks(block, "This page holds its data and connects to nothing.");
}

/** Data in blocks that are fetched when they are needed. */
export async function fromBlocks(block: (id: string) => Promise<Uint8Array>, origin: string): Promise<Data> {
  const { head, processes } = await decode(await block("columns"));
  const details = lazy(async () => lines(await block("details")));
  const allocations = lazy(async () => lines(await block("allocations")));
  const quoted = lazy(async () => lines(await block("quoted")));
  for (const process of processes) process.quoted = async () => (await quoted()).parse(process.index) as Quoted | null;
  return {
    head,
    processes,
    origin,
    async detail(process, row) {
      const place = process.header.details.indexOf(row);
      if (place < 0) return null;
      const before = processes.slice(0, process.index).reduce((n, p) => n + p.header.details.length, 0);
      return (await details()).parse(before + place) as Detail;
    },
    async allocations(process) {
      if (!process.header.allocations) return null;
      const before = processes.slice(0, process.index).filter((p) => p.header.allocations).length;
      return (await allocations()).parse(before) as Allocations;
    },
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
