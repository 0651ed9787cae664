import { figures, type Figure, type Form } from "../data/columns";
import { rateOf } from "../data/condition";
import type { Process } from "../data/process";
import { bytes, count, duration, moment, percent, rate, unknown } from "../units";

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

const versions = new WeakMap<Process, Map<string, { version: number; values: Float64Array }>>();

/** The figures that are not stored, by the id of their column. */
const computed: Record<string, (p: Process) => (row: number) => number> = { rate: rateOf };

/** Computes a column once for each version of a process. */
function derived(name: string, of: (p: Process) => (row: number) => number) {
  return (p: Process) => {
    let all = versions.get(p);
    if (!all) versions.set(p, (all = new Map()));
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

const texts: Record<Exclude<Form, "word">, (value: number) => string> = {
  count,
  moment,
  percent,
  plain: String,
  rate,
  size: bytes,
  time: duration,
};

/** The words of codes, by the id of their column. */
const words: Record<string, (p: Process) => Record<number, string>> = {
  kind: (p) => p.head.words.kinds,
  reason: (p) => p.head.words.reasons,
};

function column({ id, label, term, width, start, column, form }: Figure): Column {
  const values = column === null ? derived(id, computed[id]) : stored(column);
  if (form === "word") {
    return { id, label, term, width, start, left: true, values, text: (p, row) => words[id](p)[values(p)[row]] ?? unknown };
  }
  return { id, label, term, width, start, values, text: (p, row) => texts[form](values(p)[row]) };
}

/** The part of a pause that took longest, with its share. */
export function mostly(p: Process, row: number): string {
  const part = p.head.words.parts[p.get("mostly")[row]];
  return part ? `${part} ${percent(p.get("mostly_centipct")[row] / 100)}` : unknown;
}

const labels = ["gen 0", "gen 1", "gen 2", "LOH", "POH"];

const mostlyColumn: Column = { id: "mostly", label: "mostly", term: "phase times", width: 26, left: true, values: stored("mostly"), text: mostly };

export const columns: Column[] = [
  ...figures.flatMap((f) => (f.id === "suspend" ? [column(f), mostlyColumn] : [column(f)])),
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
