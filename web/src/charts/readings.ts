import { rateOf } from "../data/condition";
import { bytes, duration, moment, percent, rate } from "../units";
import type { Process } from "../data/process";
import type { Group, Reading } from "./chart";
import { variables } from "./palette";
import { classes, classOf, type Prepared } from "./series";

/** How long after the beginning of its pause a collection started, where that is a millisecond or more. */
export function beganLater(p: Process, row: number): string {
  const later = p.get("start_us")[row] - p.time[row];
  return later >= 1e3 ? `+${duration(later)}` : "";
}

/** What each chart says of the collection that is pointed at: its own figures, and nothing else. */
export function readings({ process: p, generations, background }: Prepared, pointed: number, group: Group) {
  const reading = (rows: (get: (name: string) => number, row: number) => Reading["rows"], which = () => pointed) => (): Reading | null => {
    const row = which();
    if (row < 0 || row >= p.rows) return null;
    const get = (name: string) => p.get(name)[row];
    return { title: `GC ${get("number")} at ${moment(p.time[row])}`, rows: rows(get, row) };
  };
  const change = (get: (name: string) => number, name: string) => `${bytes(get(`${name}_before_bytes`))} → ${bytes(get(`${name}_after_bytes`))}`;
  const running = () => {
    const at = group.cursor ?? -1;
    const [start, length] = [p.get("start_us"), p.get("duration_us")];
    return background.findLast((row) => start[row] <= at && at <= start[row] + length[row]) ?? -1;
  };
  return {
    pauses: reading((get, row) => {
      const of = classes[classOf(p)(row)];
      const reason = p.head.words.reasons[get("reason")];
      return [{ label: `pause, ${of?.label ?? "unknown"}`, value: duration(get("pause_us")), colour: of && variables[of.id] }, ...(reason ? [{ label: "reason", value: reason }] : []), ...(beganLater(p, row) ? [{ label: "GC started", value: beganLater(p, row) }] : [])];
    }),
    heap: reading((get) => [
      ...[...generations].reverse().map((g) => ({ label: g.label, value: change(get, g.name), colour: variables[g.colour] })),
      { label: "heap", value: change(get, "heap") },
    ]),
    rate: reading((get, row) => [{ label: "allocated before it", value: bytes(get("allocated_bytes")) }, { label: "rate", value: rate(rateOf(p)(row)), colour: variables.accent }]),
    committed: reading((get) => [
      { label: "committed", value: bytes(get("committed_after_bytes")), colour: variables.gen1 },
      ...(p.header.hard_limit_bytes ? [{ label: "hard limit", value: bytes(p.header.hard_limit_bytes), colour: variables.gen2 }] : []),
      { label: "memory load", value: percent(get("memory_load_pct")), colour: variables.text },
    ]),
    phases: reading((get) => [
      { label: "start to end", value: duration(get("duration_us")), colour: variables.background },
      { label: "paused", value: duration(get("pause_us")), colour: variables.gen2 },
    ], running),
  };
}
