import { lowerBound, ordered } from "../data/order";
import { breathe, nextTask } from "../data/pause";
import type { Process } from "../data/process";
import { Pyramid } from "../data/pyramid";

export { lowerBound };

/** A class of pauses, as charts and tables tell them apart. */
export interface PauseClass {
  id: "gen0" | "gen1" | "gen2" | "background";
  label: string;
  condition: string;
}

export const classes: PauseClass[] = [
  { id: "gen0", label: "gen 0", condition: "gen=0" },
  { id: "gen1", label: "gen 1", condition: "gen=1" },
  { id: "gen2", label: "gen 2 blocking", condition: "gen=2 and kind!=background" },
  { id: "background", label: "background", condition: "kind=background" },
];

/** The index of a collection's class, -1 where it is not known. */
export function classOf(p: Process): (row: number) => number {
  const generation = p.get("generation");
  const kind = p.get("kind");
  const background = p.head.words.kinds.indexOf("background");
  return (row) => (kind[row] === background ? 3 : generation[row] >= 0 && generation[row] <= 2 ? generation[row] : -1);
}

/** Pauses in order of time. */
export interface Pauses {
  time: Float64Array;
  length: Float64Array;
  row: Uint32Array;
  top: Pyramid;
}

/** The pauses of each class, of the collections that meet the conditions. */
async function pausesOf(p: Process, meets: Uint8Array | null): Promise<Pauses[]> {
  const pauseStart = p.get("pause_start_us");
  const start = p.get("start_us");
  const suspend = p.get("suspend_us");
  const pause = p.get("pause_us");
  const finalStart = p.get("final_start_us");
  const finalPause = p.get("final_pause_us");
  const of = classOf(p);
  const n = p.rows;
  /** A GC that ran while the program was suspended for another one is shown where it began itself: the other's bar would hide it. */
  const begin = (row: number) => (suspend[row] === 0 && !Number.isNaN(start[row]) ? start[row] : pauseStart[row]);
  const lists = classes.map(() => ({ n: 0, time: new Float64Array(0), length: new Float64Array(0), row: new Uint32Array(0) }));
  for (const measure of [true, false]) {
    for (const list of lists) {
      if (!measure) Object.assign(list, { time: new Float64Array(list.n), length: new Float64Array(list.n), row: new Uint32Array(list.n), n: 0 });
    }
    const add = (list: (typeof lists)[0], time: number, length: number, row: number) => {
      if (!measure) {
        list.time[list.n] = time;
        list.length[list.n] = length;
        list.row[list.n] = row;
      }
      list.n++;
    };
    for (let row = 0; row < n; row++) {
      if ((row & 4095) === 4095) await breathe();
      if (meets && !meets[row]) continue;
      const c = of(row);
      if (c < 0 || Number.isNaN(pause[row]) || Number.isNaN(begin(row))) continue;
      const second = finalPause[row] || 0;
      add(lists[c], begin(row), pause[row] - second, row);
      if (second > 0) add(lists[c], finalStart[row], second, row);
    }
  }
  const all: Pauses[] = [];
  for (const list of lists) {
    await breathe();
    const order = ordered(Uint32Array.from(list.time.keys()), list.time, false);
    const time = new Float64Array(list.n);
    const length = new Float64Array(list.n);
    const row = new Uint32Array(list.n);
    order.forEach((from, i) => {
      time[i] = list.time[from];
      length[i] = list.length[from];
      row[i] = list.row[from];
    });
    all.push({ time, length, row, top: new Pyramid(length, list.n) });
  }
  return all;
}

/** The indexes of a range if they are at most so many, otherwise those that stand for each of a number of buckets, which end where end says. */
function thinned(first: number, last: number, most: number, buckets: number, end: (bucket: number) => number, best: (from: number, to: number) => number[]): number[] {
  if (last - first <= most) return Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const found: number[] = [];
  for (let b = 1, at = first; b <= buckets; b++) {
    const to = b === buckets ? last : end(b);
    if (to > at) found.push(...best(at, to));
    at = Math.max(at, to);
  }
  return found;
}

/** At most one point for each of a number of buckets: the longest pauses. */
export function longest(pauses: Pauses, from: number, to: number, buckets: number): number[] {
  const at = (us: number) => lowerBound(pauses.time, us);
  const width = (to - from) / buckets;
  return thinned(at(from), at(to), buckets, buckets, (b) => at(from + b * width), (first, last) => [pauses.top.best(first, last)]);
}

/** Finds the collections that show a heap's sizes best: in each of a number of buckets the largest before and the smallest after. */
export class Extremes {
  private readonly high: Pyramid;
  private readonly low: Pyramid;

  constructor(private readonly p: Process, high: string, low: string) {
    this.high = new Pyramid(p.get(high), p.rows);
    this.low = new Pyramid(p.get(low), p.rows, -1);
  }

  rows(from: number, to: number, buckets: number): number[] {
    const first = Math.max(0, this.p.rowAt(from) - 1);
    const last = Math.min(this.p.rows, this.p.rowAt(to) + 1);
    const width = (to - from) / buckets;
    const pair = (from: number, to: number) => [...new Set([this.high.best(from, to), this.low.best(from, to)])].filter((row) => row >= 0).sort((a, b) => a - b);
    return thinned(first, last, 2 * buckets, buckets, (b) => this.p.rowAt(from + b * width), pair);
  }
}

/** A stretch of time, in microseconds. */
export interface Stretch {
  from: number;
  to: number;
}

/** Where the trace lost events, in order of time. */
function lostIn(p: Process): Stretch[] {
  return p.trace.report.lost.at.map((r) => ({ from: r.from_ms * 1e3, to: r.to_ms * 1e3 }));
}

/** Reports whether events were lost between two times. */
export function lostBetween(lost: Stretch[], from: number, to: number): boolean {
  return lost.some((l) => l.from < to && l.to > from);
}

/** Generations from the bottom of the stack to its top. */
export const stack = [
  { name: "poh", label: "POH", colour: "poh" },
  { name: "loh", label: "LOH", colour: "loh" },
  { name: "gen2", label: "gen 2", colour: "gen2" },
  { name: "gen1", label: "gen 1", colour: "gen1" },
  { name: "gen0", label: "gen 0", colour: "gen0" },
] as const;

/** What the charts of a process are drawn from. */
export interface Prepared {
  process: Process;
  key: string;
  pauses: Pauses[];
  others: Pauses[] | null; // of all collections, where conditions select some
  heap: Extremes;
  committed: Extremes;
  /** Sums up to each collection: of what was allocated before it, and of how often that is not known. */
  allocated: { bytes: Float64Array; unknown: Float64Array };
  background: Uint32Array; // rows
  lost: Stretch[];
  /** The generations that the runtime has: .NET before 5 has no POH. */
  generations: (typeof stack)[number][];
  has: { sizes: boolean; allocated: boolean; committed: boolean; load: boolean };
  /** The power of ten, in microseconds, that no pause is shorter than. */
  floor: number;
  /** Whether the longest pause is so much longer than most that these would be a flat line beside it. */
  spread: boolean;
  paused: boolean; // whether pauses were recorded
}

/** How many times as long as the median the longest pause is where a linear axis shows the others as a flat line. */
const flat = 50;

/** How widely the lengths of pauses differ. */
async function spreadOf(pauses: Pauses[]): Promise<Pick<Prepared, "floor" | "spread" | "paused">> {
  const all = new Float64Array(pauses.reduce((n, list) => n + list.length.length, 0));
  let at = 0;
  for (const list of pauses) {
    all.set(list.length, at);
    at += list.length.length;
  }
  await nextTask(); // a sort cannot be interrupted
  all.sort();
  const [least, median, most] = [all[0], all[all.length >> 1], all[all.length - 1]];
  return { floor: least > 1 ? Math.floor(Math.log10(least)) : 0, spread: most > flat * median, paused: all.length > 0 };
}

/** Prepares charts in slices; null where it was given up. */
export async function prepare(p: Process, key: string, meets: Uint8Array | null, stopped: () => boolean): Promise<Prepared | null> {
  const pauses = await pausesOf(p, meets);
  if (stopped()) return null;
  const others = meets ? await pausesOf(p, null) : null;
  await breathe();
  const heap = new Extremes(p, "heap_before_bytes", "heap_after_bytes");
  await breathe();
  const committed = new Extremes(p, "committed_after_bytes", "committed_after_bytes");
  await breathe();
  const before = p.get("allocated_bytes");
  const allocated = { bytes: sums(p.rows, (row) => before[row] || 0), unknown: sums(p.rows, (row) => Number(Number.isNaN(before[row]))) };
  const of = classOf(p);
  const background: number[] = [];
  for (let row = 0; row < p.rows; row++) if (of(row) === 3) background.push(row);
  await breathe();
  const some = (name: string) => p.get(name).subarray(0, p.rows).some((v) => !Number.isNaN(v));
  const generations = some("gen0_before_bytes") ? stack.filter((g) => some(`${g.name}_before_bytes`)) : [];
  const has = {
    sizes: some("heap_after_bytes"), allocated: some("allocated_bytes"), committed: some("committed_after_bytes"), load: some("memory_load_pct"),
  };
  const spread = await spreadOf(others ?? pauses);
  return stopped() ? null : { process: p, key, ...spread, pauses, others, heap, committed, allocated, background: Uint32Array.from(background), lost: lostIn(p), generations, has };
}

/** Sums up to each collection, so that any range's sum is a difference. */
function sums(n: number, of: (row: number) => number): Float64Array {
  const all = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) all[i + 1] = all[i] + of(i);
  return all;
}
