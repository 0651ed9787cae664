import type { Header, Words } from "./header";
import type { Process } from "./process";

/** What a page shows of a collection beside its columns; NaN is unknown. internal/html/detail.go names the figures. */
export interface Detail {
  scalars: Record<string, number>;
  lists: Record<string, Record<string, number>[]>;
}

/** How details are stored. */
export interface DetailsHeader {
  scalars: string[];
  lists: { name: string; fields: { name: string; guess: "zero" | "previous" | "above" | "rest" | "last" | "exact"; columns: [number, number][][] }[] }[];
}

/** How many details a chunk has. */
export const chunkSize = 256;

/** The numbers of runs: how many are skipped, then how many follow one another, again and again. */
export function* unrolled(runs: number[]): Generator<number> {
  let next = 0;
  for (let i = 0; i < runs.length; i += 2) {
    next = (next + runs[i]) % 2 ** 32;
    for (let n = 0; n < runs[i + 1]; n++) yield next++;
  }
}

/** Reads figures from a stream. */
class Stream {
  constructor(
    private readonly data: Uint8Array,
    private at: number,
  ) {}

  code(): number {
    let code = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = this.data[this.at++];
      code += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return code;
  }

  /** A figure; NaN if it is unknown. */
  next(likely: number): number {
    const code = this.code();
    if (code === 0) return NaN;
    return likely + (code % 2 === 0 ? -code / 2 : (code - 1) / 2);
  }

  get place(): number {
    return this.at;
  }
}

const known = (v: number | undefined) => (v === undefined || Number.isNaN(v) ? 0 : v);

/** Reads the details of some rows of a process from a chunk. */
export function unpack(head: Header, process: Process, rows: number[], data: Uint8Array): Detail[] {
  const { scalars, lists } = head.details;
  const streams = lists.reduce((n, l) => n + 1 + l.fields.length, scalars.length);
  const lengths = new Stream(data, 0);
  const sizes = Array.from({ length: streams }, () => lengths.code());
  let at = lengths.place;
  const from = sizes.map((size) => new Stream(data, (at += size) - size));
  const columns = head.columns.map((c) => process.get(c.name));
  let last: Detail = { scalars: {}, lists: {} };
  return rows.map((row) => {
    const now: Detail = { scalars: {}, lists: {} };
    scalars.forEach((name, i) => {
      now.scalars[name] = from[i].next(known(last.scalars[name]));
    });
    let stream = scalars.length;
    for (const { name, fields } of lists) {
      const old = last.lists[name] ?? [];
      const count = from[stream].next(old.length);
      const items: Record<string, number>[] = (now.lists[name] = Array.from({ length: count }, () => ({})));
      fields.forEach((field, f) => {
        const sum = (item: number) => (field.columns[item] ?? []).reduce((all, [column, sign]) => all + sign * known(columns[column][row]), 0);
        let left = sum(0);
        items.forEach((item, k) => {
          const before = known(old[k]?.[field.name]);
          const likely = {
            zero: () => 0,
            previous: () => before,
            above: () => (k > 0 ? known(items[k - 1][fields[f - 1].name]) : 0),
            rest: () => left,
            last: () => (k === count - 1 ? left : before),
            exact: () => sum(k),
          }[field.guess]();
          const v = (item[field.name] = from[stream + 1 + f].next(likely));
          left -= known(v);
        });
      });
      stream += 1 + fields.length;
    }
    return (last = now);
  });
}

/** Names the figures of a detail that a server sends as an array. */
export function named(head: Header, figures: (number | null)[] | null): Detail | null {
  if (!figures) return null;
  const d: Detail = { scalars: {}, lists: {} };
  let at = 0;
  const next = () => figures[at++] ?? NaN;
  for (const name of head.details.scalars) d.scalars[name] = next();
  for (const { name, fields } of head.details.lists) {
    d.lists[name] = Array.from({ length: next() }, () => Object.fromEntries(fields.map((f) => [f.name, next()])));
  }
  return d;
}

/** The name of a figure's value. */
export function word(words: Words, of: "roots" | "phase_times" | "pauses", value: number): string {
  return words[of][value] ?? String(value);
}
