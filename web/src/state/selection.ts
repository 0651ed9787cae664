import { ConditionError, parse, percentile, type Test } from "../data/condition";
import { ordered } from "../data/order";
import { breathe, nextTask } from "../data/pause";
import type { Process } from "../data/process";
import type { ProcessTotals } from "../data/report";
import { classes, classOf } from "../charts/series";
import { columnOf } from "../ui/columns";
import { findingOf, type State } from "./state";

/** The collections that are selected, and figures over them. */
export interface Selection {
  process: Process | null;
  version: number;
  of: number; // collections, among which these were selected
  key: string;
  /** Those in the selected time that meet the typed condition, by time. */
  base: Uint32Array;
  /** Those of base that meet the picked condition too, by time. */
  rows: Uint32Array;
  /** Rows, as the table is sorted. */
  sorted: Uint32Array;
  sort: string;
  /** Whether each collection of the process meets both conditions, at any time. */
  meets: Uint8Array;
  all: boolean; // all do
  totals: Totals;
  pauses: Pauses; // of base
  error: string; // of the condition
}

/** Lengths of pauses, ascending: of all, and of each class. */
export interface Pauses {
  all: Float64Array;
  byClass: Float64Array[];
}

/** How a sum relates to the true one, as reports print it: estimated, at least, exact. */
export type Accuracy = "~" | ">" | "";

export interface Totals {
  count: number;
  pause: number;
  pauseIs: Accuracy;
  longest: number;
  longestRow: number;
  p99: number;
  allocated: number;
  allocatedIs: Accuracy;
  freed: number;
  freedIs: Accuracy;
  promoted: number;
  promotedIs: Accuracy;
  largest: number;
  induced: number;
  notForced: number; // of induced: GCs that need not have blocked
  doubtful: number; // incomplete, or touched by loss
  from: number;
  to: number;
}

/** The marks of reports' words for how a sum relates to the true one. */
export const marks: Record<string, Accuracy> = { estimate: "~", lower_bound: ">" };

/** What is not known yet. */
export const noTotals: Totals = {
  count: NaN, pause: NaN, pauseIs: "", longest: NaN, longestRow: -1, p99: NaN, allocated: NaN, allocatedIs: "", freed: NaN, freedIs: "", promoted: NaN, promotedIs: "", largest: NaN, induced: NaN, notForced: 0, doubtful: 0, from: 0, to: 0,
};

const noPauses: Pauses = { all: new Float64Array(0), byClass: classes.map(() => new Float64Array(0)) };

const none = new Uint32Array(0);

export const emptySelection: Selection = {
  process: null, version: -1, of: 0, key: "", base: none, rows: none, sorted: none, sort: "", meets: new Uint8Array(0), all: true, totals: noTotals, pauses: noPauses, error: "",
};

/** Selects collections; null where it was given up. What has not changed is taken from the selection before. */
export async function select(p: Process, state: State, before: Selection, stopped: () => boolean): Promise<Selection | null> {
  const key = JSON.stringify([state.from, state.to, state.where, state.pick]);
  const same = before.process === p && before.version === p.version && before.key === key;
  if (same && before.sort === state.sort) return before;
  if (!same) await nextTask();
  const selection = same ? { ...before } : await filter(p, state, key, stopped);
  if (!selection || stopped()) return null;
  selection.sort = state.sort;
  selection.sorted = sort(p, selection.rows, state.sort);
  return selection;
}

function sort(p: Process, rows: Uint32Array, by: string): Uint32Array {
  const descending = by.startsWith("-");
  const column = columnOf(by.replace(/^-/, ""));
  if (!column) return rows;
  return ordered(rows, column.values(p), descending);
}

/** A pick is a condition, or names a finding: the collections that it quotes. */
async function pickedTest(pick: string, p: Process): Promise<Test> {
  const rule = findingOf(pick);
  if (rule === null) return parse(pick, p);
  const numbers = await p.quotedBy(rule);
  const number = p.get("number");
  return (row) => numbers.has(number[row]);
}

async function filter(p: Process, state: State, key: string, stopped: () => boolean): Promise<Selection | null> {
  let typed: Test = () => true;
  let picked: Test = () => true;
  let error = "";
  try {
    typed = parse(state.where, p);
  } catch (e) {
    if (!(e instanceof ConditionError)) throw e;
    error = e.message;
  }
  try {
    picked = await pickedTest(state.pick, p);
  } catch (e) {
    if (!(e instanceof ConditionError)) throw e;
  }
  const n = p.rows;
  const version = p.version;
  const meets = new Uint8Array(n);
  const base = new Uint32Array(n);
  const rows = new Uint32Array(n);
  let bases = 0;
  let found = 0;
  let met = 0;
  const from = state.from ?? -Infinity;
  const to = state.to ?? Infinity;
  for (let row = 0; row < n; row++) {
    if ((row & 4095) === 4095) {
      await breathe();
      if (stopped()) return null;
    }
    if (!typed(row)) continue;
    const pick = picked(row);
    if (pick) {
      meets[row] = 1;
      met++;
    }
    if (p.time[row] < from || p.time[row] >= to) continue;
    base[bases++] = row;
    if (pick) rows[found++] = row;
  }
  const selected = rows.slice(0, found);
  const pauses = await sortedPauses(p, base.subarray(0, bases));
  const totals = await sum(p, selected, state, found === bases ? pauses.all : null);
  return {
    process: p, version, of: n, key, base: base.slice(0, bases), rows: selected, sorted: selected, sort: "", meets, all: met === n, totals, pauses, error,
  };
}

async function sortedPauses(p: Process, rows: Uint32Array): Promise<Pauses> {
  const pause = p.get("pause_us");
  const of = classOf(p);
  const lists = [-1, 0, 1, 2, 3].map(() => new Float64Array(rows.length));
  const counts = lists.map(() => 0);
  for (let i = 0; i < rows.length; i++) {
    const v = pause[rows[i]];
    if (Number.isNaN(v)) continue;
    const c = of(rows[i]) + 1;
    lists[0][counts[0]++] = v;
    if (c > 0) lists[c][counts[c]++] = v;
    if ((i & 8191) === 8191) await breathe();
  }
  const sorted: Float64Array[] = [];
  for (let i = 0; i < lists.length; i++) {
    await nextTask(); // a sort cannot be interrupted
    sorted.push(lists[i].slice(0, counts[i]).sort());
  }
  return { all: sorted[0], byClass: sorted.slice(1) };
}

const induced = new Set(["Induced", "InducedNotForced", "InducedCompacting", "InducedAggressive"]);
const notForced = new Set(["InducedNotForced"]);

/** A sum of sizes, of which some may be unknown or not exact, as in gc/stats. A lower bound is the sum of lower bounds. */
class Sum {
  private total = NaN;
  private least = 0;
  private estimated = false;
  private atLeast = false;
  private readonly sizes: Float64Array;
  private readonly lows: Float64Array;
  private readonly certainties: Float64Array | null;
  private readonly words: string[];

  constructor(p: Process, figure: string, bounded: boolean) {
    this.sizes = p.get(`${figure}_bytes`);
    this.lows = bounded ? p.get(`${figure}_low_bytes`) : this.sizes;
    this.certainties = bounded ? p.get(`${figure}_is`) : null;
    this.words = p.head.words.certainties;
  }

  add(row: number, affected: boolean): void {
    const size = this.sizes[row];
    if (Number.isNaN(size)) {
      this.atLeast = true;
      return;
    }
    this.total = (this.total || 0) + size;
    this.least += this.lows[row];
    const word = this.certainties ? this.words[this.certainties[row]] : "exact";
    if (word === "estimate") this.estimated = true;
    if (word === "lower_bound" || affected) this.atLeast = true;
  }

  get sum(): number {
    return this.atLeast && !Number.isNaN(this.total) ? this.least : this.total;
  }

  get is(): Accuracy {
    if (Number.isNaN(this.total)) return "";
    return this.atLeast ? ">" : this.estimated ? "~" : "";
  }
}

/** Adds up figures of some collections. Their pauses in ascending order may be known. */
async function sum(p: Process, rows: Uint32Array, state: State, ascending: Float64Array | null): Promise<Totals> {
  const t = { ...noTotals, count: rows.length, pause: 0, induced: 0, from: state.from ?? p.header.started_us, to: Math.min(state.to ?? Infinity, p.end) };
  const pause = p.get("pause_us");
  const [allocated, freed, promoted] = [new Sum(p, "allocated", true), new Sum(p, "freed", true), new Sum(p, "promoted", false)];
  const [beforeBytes, after, reason] = ["heap_before_bytes", "heap_after_bytes", "reason"].map((name) => p.get(name));
  const [complete, affected] = ["complete", "affected_by_loss"].map((name) => p.get(name));
  const codes = (names: Set<string>) => new Set(Object.entries(p.head.words.reasons).filter(([, name]) => names.has(name)).map(([code]) => Number(code)));
  const [inducing, asking] = [codes(induced), codes(notForced)];
  const pauses = new Float64Array(rows.length);
  let known = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const v = pause[row];
    if (!Number.isNaN(v)) {
      pauses[known++] = v;
      t.pause += v;
      if (!(v <= t.longest)) {
        t.longest = v;
        t.longestRow = row;
      }
    }
    if (Number.isNaN(v) || affected[row] === 1) t.pauseIs = ">";
    for (const of of [allocated, freed, promoted]) of.add(row, affected[row] === 1);
    const size = Math.max(beforeBytes[row] || 0, after[row] || 0);
    if (size > 0 && !(size <= t.largest)) t.largest = size;
    if (inducing.has(reason[row])) t.induced++;
    if (asking.has(reason[row])) t.notForced++;
    if (complete[row] === 0 || affected[row] === 1) t.doubtful++;
    if ((i & 8191) === 8191) await breathe();
  }
  [t.allocated, t.allocatedIs] = [allocated.sum, allocated.is];
  [t.freed, t.freedIs] = [freed.sum, freed.is];
  [t.promoted, t.promotedIs] = [promoted.sum, promoted.is];
  if (known === 0 && rows.length > 0) [t.pause, t.pauseIs] = [NaN, ""];
  if (known > 0) {
    await nextTask();
    t.p99 = percentile(ascending ?? pauses.subarray(0, known).sort(), 99);
  }
  return t;
}

/** The report's totals of a process, if all of it is selected. */
export function wholeOf(p: Process | null, state: State): ProcessTotals | undefined {
  const part = state.where !== "" || state.pick !== "" || state.from !== null || state.to !== null;
  return part ? undefined : p?.report?.totals;
}

export interface SizeSum {
  bytes: number;
  is: Accuracy;
}

/** The bytes allocated and freed in a selection. The report of a whole process also knows what was allocated after its last GC. */
export function sums(t: Totals, whole: ProcessTotals | undefined): { allocated: SizeSum; freed: SizeSum } {
  const reported = (bytes: number | null | undefined, is: string | null | undefined) => bytes == null ? undefined : { bytes, is: marks[is ?? ""] ?? "" };
  return {
    allocated: reported(whole?.allocated_bytes, whole?.allocated_is) ?? { bytes: t.allocated, is: t.allocatedIs },
    freed: reported(whole?.freed_bytes, whole?.freed_is) ?? { bytes: t.freed, is: t.freedIs },
  };
}
