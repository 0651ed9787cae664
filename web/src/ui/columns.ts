import { rateOf } from "../data/condition";
import type { Process } from "../data/process";
import { bytes, count, duration, moment, percent, rate } from "../units";

/** A column of the table of collections. */
export interface Column {
  id: string;
  label: string;
  term: string; // the name of a definition in internal/report
  width: number; // in characters
  left?: boolean;
  start?: boolean; // shown from the start
  values(p: Process): Float64Array;
  text(p: Process, row: number): string;
}

const stored = (name: string) => (p: Process) => p.get(name);

const computed = new WeakMap<Process, Map<string, { version: number; values: Float64Array }>>();

/** Computes a column once for each version of a process. */
function derived(name: string, of: (p: Process) => (row: number) => number) {
  return (p: Process) => {
    let all = computed.get(p);
    if (!all) computed.set(p, (all = new Map()));
    const known = all.get(name);
    if (known && known.version === p.version) return known.values;
    const values = new Float64Array(p.rows);
    const value = of(p);
    for (let row = 0; row < p.rows; row++) values[row] = value(row);
    all.set(name, { version: p.version, values });
    return values;
  };
}

function sized(id: string, label: string, term: string, name: string, start = false): Column {
  return { id, label, term, width: 8, start, values: stored(name), text: (p, row) => bytes(p.get(name)[row]) };
}

function timed(id: string, label: string, term: string, name: string, start = false): Column {
  return { id, label, term, width: 8, start, values: stored(name), text: (p, row) => duration(p.get(name)[row]) };
}

function counted(id: string, label: string, term: string, name: string, start = false): Column {
  return { id, label, term, width: 8, start, values: stored(name), text: (p, row) => count(p.get(name)[row]) };
}

/** The part of a pause that took longest, with its share. */
export function mostly(p: Process, row: number): string {
  const part = p.head.words.parts[p.get("mostly")[row]];
  return part ? `${part} ${percent(p.get("mostly_centipct")[row] / 100)}` : "–";
}

const labels = ["gen 0", "gen 1", "gen 2", "LOH", "POH"];

export const columns: Column[] = [
  { ...counted("number", "GC", "collection", "number", true), width: 6, text: (p, row) => String(p.get("number")[row]) },
  { id: "start", label: "start", term: "start", width: 9, start: true, values: stored("start_us"), text: (p, row) => moment(p.get("start_us")[row]) },
  { ...counted("gen", "gen", "generation", "generation", true), width: 4 },
  { id: "kind", label: "kind", term: "kind", width: 10, left: true, start: true, values: stored("kind"), text: (p, row) => p.head.words.kinds[p.get("kind")[row]] ?? "–" },
  { id: "reason", label: "reason", term: "reason", width: 13, left: true, start: true, values: stored("reason"), text: (p, row) => p.head.words.reasons[p.get("reason")[row]] ?? "–" },
  timed("pause", "pause", "pause", "pause_us", true),
  timed("suspend", "suspend", "suspension", "suspend_us", true),
  { id: "mostly", label: "mostly", term: "phase times", width: 26, left: true, values: stored("mostly"), text: mostly },
  timed("duration", "duration", "duration", "duration_us"),
  timed("since", "since last", "since last", "since_last_us"),
  sized("before", "before", "heap before", "heap_before_bytes", true),
  sized("after", "after", "heap after", "heap_after_bytes", true),
  sized("freed", "freed", "freed", "freed_bytes", true),
  sized("promoted", "promoted", "promoted", "promoted_bytes", true),
  sized("allocated", "allocated", "allocated", "allocated_bytes", true),
  { id: "rate", label: "alloc. rate", term: "allocation rate", width: 10, values: derived("rate", rateOf), text: (p, row) => rate(rateOf(p)(row)) },
  sized("committed", "committed", "committed", "committed_after_bytes", true),
  { id: "load", label: "load", term: "memory load", width: 7, values: stored("memory_load_pct"), text: (p, row) => percent(p.get("memory_load_pct")[row]) },
  counted("heaps", "heaps", "heaps", "heaps"),
  counted("pinned", "pinned", "pinned", "pinned_objects"),
  ...["gen0", "gen1", "gen2", "loh", "poh"].flatMap((name, i) => [
    sized(`${name}_before`, `${labels[i]} before`, name, `${name}_before_bytes`),
    sized(`${name}_after`, `${labels[i]} after`, name, `${name}_after_bytes`),
  ]),
];

const byID = new Map(columns.map((c) => [c.id, c]));

export function columnOf(id: string): Column | undefined {
  return byID.get(id);
}

/** The columns to show, the collection's number first. */
export function chosen(ids: string[] | null): Column[] {
  const all = ids ? columns.filter((c) => ids.includes(c.id)) : columns.filter((c) => c.start);
  return all[0]?.id === "number" ? all : [columns[0], ...all];
}
