import { alike, columnUnits } from "../charts/axis";
import { figures, type Figure, type Form } from "../data/columns";
import { rateOf } from "../data/condition";
import type { Process } from "../data/process";
import { count, moment, percent, unknown } from "../units";

/** A column of the table of collections. */
export interface Column {
  id: string;
  label: string;
  term: string; // the name of a definition in internal/report
  width: number; // in characters
  more?(p: Process): number; // characters, beside those
  left?: boolean;
  start?: boolean; // shown from the start
  values(p: Process): Float64Array;
  text(p: Process, row: number): string;
}

const stored = (name: string) => (p: Process) => p.get(name);

const versions = new WeakMap<Process, Map<string, { version: number; made: unknown }>>();

/** The figures that are not stored, by the id of their column. */
const computed: Record<string, (p: Process) => (row: number) => number> = { rate: rateOf };

/** Makes something of a process, once for each version of it. */
function once<T>(name: string, make: (p: Process) => T): (p: Process) => T {
  return (p) => {
    let all = versions.get(p);
    if (!all) versions.set(p, (all = new Map()));
    let known = all.get(name);
    if (known?.version !== p.version) all.set(name, (known = { version: p.version, made: make(p) }));
    return known!.made as T;
  };
}

/** Computes a column. */
function derived(name: string, of: (p: Process) => (row: number) => number) {
  return once(name, (p) => {
    const value = of(p);
    return Float64Array.from({ length: p.rows }, (_, row) => value(row));
  });
}

/** How many decimals of a second distinguish the times of a column: three to six. */
function decimals(values: Float64Array, rows: number): number {
  let least = 1e3;
  for (let row = 1; row < rows; row++) {
    const apart = Math.abs(values[row] - values[row - 1]);
    if (apart > 0 && apart < least) least = apart;
  }
  return 6 - Math.floor(Math.log10(least));
}

/** Writes the values of a column, which all have one unit, and as many decimals as distinguish times. */
function written(id: string, form: Exclude<Form, "word">, values: (p: Process) => Float64Array): Pick<Column, "text" | "more"> {
  if (form === "moment") {
    const places = once(`${id} decimals`, (p) => decimals(values(p), p.rows));
    return { text: (p, row) => moment(values(p)[row], places(p)), more: (p) => (p.end < 100e6 ? 0 : places(p) - 3) };
  }
  if (form === "time" || form === "size" || form === "rate") {
    const text = once(`${id} unit`, (p) => alike(columnUnits[form], values(p).subarray(0, p.rows)));
    return { text: (p, row) => text(p)(values(p)[row]) };
  }
  const text = { count, percent, plain: String }[form];
  return { text: (p, row) => text(values(p)[row]) };
}

/** A column of a figure that is not shown from the start. */
function further(id: string, label: string, term: string, width: number, form: "size" | "moment", name: string): Column {
  return { id, label, term, width, values: stored(name), ...written(id, form, stored(name)) };
}

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
  return { id, label, term, width, start, values, ...written(id, form, values) };
}

/** The part of a pause that took longest, with its share. */
export function mostly(p: Process, row: number): string {
  const part = p.head.words.parts[p.get("mostly")[row]];
  return part ? `${part} ${percent(p.get("mostly_centipct")[row] / 100)}` : unknown;
}

const labels = ["gen 0", "gen 1", "gen 2", "LOH", "POH"];

const mostlyColumn: Column = { id: "mostly", label: "mostly", term: "phase times", width: 26, left: true, values: stored("mostly"), text: mostly };

/** Where charts show the pause: a GC starts when the threads are suspended, which may take long. */
const pausedColumn = further("paused_at", "pause at", "", 13, "moment", "pause_start_us");

export const columns: Column[] = [
  ...figures.flatMap((f) => [column(f), ...({ start: [pausedColumn], suspend: [mostlyColumn] }[f.id] ?? [])]),
  ...["gen0", "gen1", "gen2", "loh", "poh"].flatMap((name, i) => [
    further(`${name}_before`, `${labels[i]} before`, name, 8, "size", `${name}_before_bytes`),
    further(`${name}_after`, `${labels[i]} after`, name, 8, "size", `${name}_after_bytes`),
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
