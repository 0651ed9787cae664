import type { Process } from "../data/process";
import { Pyramid } from "../data/pyramid";

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
export function pausesOf(p: Process, meets: Uint8Array | null): Pauses[] {
  const start = p.get("pause_start_us");
  const pause = p.get("pause_us");
  const finalStart = p.get("final_start_us");
  const finalPause = p.get("final_pause_us");
  const of = classOf(p);
  const found: { at: number; length: number; row: number }[][] = classes.map(() => []);
  for (let row = 0; row < p.rows; row++) {
    if (meets && !meets[row]) continue;
    const c = of(row);
    if (c < 0 || Number.isNaN(pause[row]) || Number.isNaN(start[row])) continue;
    const second = Number.isNaN(finalPause[row]) ? 0 : finalPause[row];
    found[c].push({ at: start[row], length: pause[row] - second, row });
    if (second > 0) found[c].push({ at: finalStart[row], length: second, row });
  }
  return found.map((list, c) => {
    if (c === 3) list.sort((a, b) => a.at - b.at);
    const time = Float64Array.from(list, (e) => e.at);
    const length = Float64Array.from(list, (e) => e.length);
    return { time, length, row: Uint32Array.from(list, (e) => e.row), top: new Pyramid(length, list.length) };
  });
}

/** The first index whose value is not less than v. */
export function lowerBound(values: Float64Array, v: number, n = values.length): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < v) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** At most two points for each of a number of buckets: the longest pauses. */
export function longest(pauses: Pauses, from: number, to: number, buckets: number): number[] {
  const first = lowerBound(pauses.time, from);
  const last = lowerBound(pauses.time, to);
  const found: number[] = [];
  if (last - first <= buckets) {
    for (let i = first; i < last; i++) found.push(i);
    return found;
  }
  const width = (to - from) / buckets;
  let at = first;
  for (let b = 1; b <= buckets; b++) {
    const end = b === buckets ? last : lowerBound(pauses.time, from + b * width);
    if (end > at) found.push(pauses.top.best(at, end));
    at = Math.max(at, end);
  }
  return found;
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
    const found: number[] = [];
    if (last - first <= 2 * buckets) {
      for (let row = first; row < last; row++) found.push(row);
      return found;
    }
    const width = (to - from) / buckets;
    let at = first;
    for (let b = 1; b <= buckets; b++) {
      const end = b === buckets ? last : this.p.rowAt(from + b * width);
      if (end > at) {
        const pair = [this.high.best(at, end), this.low.best(at, end)].filter((row) => row >= 0).sort((a, b) => a - b);
        for (const row of pair) if (row !== found[found.length - 1]) found.push(row);
      }
      at = Math.max(at, end);
    }
    return found;
  }
}

/** Sums up to each collection, so that any range's sum is a difference. */
export function sums(values: Float64Array, n: number): Float64Array {
  const all = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) all[i + 1] = all[i] + (values[i] || 0);
  return all;
}
