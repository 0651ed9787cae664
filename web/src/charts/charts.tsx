import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import uPlot from "uplot";
import { rateOf } from "../data/condition";
import type { Process } from "../data/process";
import { sums, wholeOf } from "../state/selection";
import type { State } from "../state/state";
import { useStore, type Store } from "../state/store";
import { Command } from "../ui/parts";
import { bytes, duration, moment, plural, rate } from "../units";
import { durations, rates, shares as percents, sizes } from "./axis";
import { Chart, Group, drawBars, overlaid, scale, type Drawing, type Span } from "./chart";
import { tint, usePalette, variables, type Palette } from "./palette";
import { drawPhases, phaseLegend, phasesSummary } from "./phases";
import { beganLater, readings } from "./readings";
import { drawRequests, nearestRequest, nextRequest, requestReading, requestsSummary, RequestWords, scaleRequests, shares, useRequests } from "./requests";
import { classes, classOf, longest, lostBetween, prepare, type Pauses, type Prepared, type Stretch } from "./series";

const tenfoldWords = "A logarithmic axis shows short pauses beside long ones: each line is ten times the one below.";

/** All charts of a process. They share the time axis and the selection. */
export function Charts({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process)!;
  const state = useStore(store, (s) => s.state);
  const selection = useStore(store, (s) => s.selection);
  const palette = usePalette(state.theme);
  const [pointed, setPointed] = useState(-1);
  const requests = useRequests(store, p);
  const [request, setRequest] = useState(-1);
  const anchor = useRef<number | null>(null);
  const now = useRef({ p, state });
  now.current = { p, state };

  const group = useMemo(() => {
    const nearest = (us: number): number => {
      const { p } = now.current;
      const row = p.rowAt(us);
      if (row === 0) return p.rows > 0 ? 0 : -1;
      if (row === p.rows) return row - 1;
      return us - p.time[row - 1] < p.time[row] - us ? row - 1 : row;
    };
    /** The longest pause among what is drawn at the pointer: a spike hides its neighbours. */
    const atPointer = (us: number, reach: number): number => {
      const { p } = now.current;
      const pause = p.get("pause_us");
      let best = nearest(us);
      for (let row = p.rowAt(us - reach), last = p.rowAt(us + reach); row < last; row++) if (pause[row] > (pause[best] || 0)) best = row;
      return best;
    };
    const point = (us: number | null, reach: number) => {
      group.moveTo(us);
      setPointed(us === null ? -1 : atPointer(us, reach));
    };
    const select = (from: number | null, to: number | null) => store.set({ from, to });
    const group: Group = new Group(select, point, (us, reach) => {
      const row = atPointer(us, reach);
      if (row >= 0) store.set({ gc: row });
    }, (event) => {
      if (press(event, group, nearest)) event.preventDefault();
    });

    /** The keys of a chart. */
    function press(event: KeyboardEvent, group: Group, nearest: (us: number) => number): boolean {
      const { p, state } = now.current;
      if (p.rows === 0 || event.ctrlKey || event.metaKey || event.altKey) return false;
      const here = group.cursor === null ? p.rowAt(state.zoomFrom ?? 0) - 1 : nearest(group.cursor);
      const go = (row: number) => {
        row = Math.min(p.rows - 1, Math.max(0, row));
        const us = p.time[row];
        if (event.shiftKey) {
          anchor.current ??= group.cursor ?? us;
          select(Math.min(anchor.current, us), Math.max(anchor.current, us) + 1);
        } else {
          anchor.current = null;
        }
        group.moveTo(us);
        setPointed(row);
        return true;
      };
      switch (event.key) {
        case "ArrowRight": return go(here + 1);
        case "ArrowLeft": return go(here - 1);
        case "PageDown": return go(here + 20);
        case "PageUp": return go(here - 20);
        case "Home": return go(0);
        case "End": return go(p.rows - 1);
        case "Enter": if (here >= 0) store.set({ gc: here }); return true;
        case "z": case "+": store.set({ zoomFrom: state.from, zoomTo: state.to }); return true;
        case "Z": case "-": store.set({ zoomFrom: null, zoomTo: null }); return true;
        case "w": case "a": case "s": case "d": store.set(moved(event.key, state, p.end, group.cursor)); return true;
        case "Escape": anchor.current = null; store.set({ from: null, to: null }); return true;
        default: return false;
      }
    }
    return group;
  }, [store]);

  const span: Span = {
    from: state.zoomFrom ?? 0, to: state.zoomTo ?? p.end, selectedFrom: state.from, selectedTo: state.to,
  };
  const current = selection.process === p && selection.version === p.version;
  const meets = current && !selection.all ? selection.meets : null;
  const { allocated } = sums(selection.totals, wholeOf(selection.process, state));
  const key = `${p.index}.${p.version}.${meets ? JSON.stringify([state.where, state.pick]) : ""}`;
  const [prepared, setPrepared] = useState<Prepared | null>(null);
  useEffect(() => {
    if (!current) return;
    let stale = false;
    void prepare(p, key, meets, () => stale).then((made) => made && setPrepared(made));
    return () => {
      stale = true;
    };
  }, [current, key]);
  if (!prepared) return <section class="charts waiting" aria-busy="true" />;
  const { pauses, others, generations, lost, has } = prepared;
  const floor = state.axis === "log" || (state.axis === "" && prepared.spread) ? prepared.floor : null;
  const sparse = () => p.rows < 3 || (lost.length > 0 && p.rows <= 50); // lines alone would hardly be seen
  const points = (fill: string): uPlot.Series.Points => ({ show: sparse, size: 5 * scale, width: 0, fill });
  const drawn = [...generations].reverse(); // the fill of a line reaches down to the next
  const version = prepared.key;
  const common = { span, palette, group, version, lost };
  const read = readings(prepared, pointed, group);
  const any = prepared.paused || has.sizes || has.allocated || has.committed || has.load || requests !== null;
  const present = classes.map((_, c) => pauses[c].row.length > 0 || (others?.[c].row.length ?? 0) > 0);

  return (
    <section class="charts" aria-labelledby="charts-title">
      <header class="section-head">
        <h2 id="charts-title">Timeline</h2>
        {requests && request >= 0 ? <p class="pointed" aria-live="polite"><RequestWords r={requests} i={request} /></p> : <Pointed p={p} row={pointed} />}
      </header>
      {any && <p class="hint">Drag to select a time, click for the details of a GC. Keys: ← → move, with Shift select, Enter details, + zooms to the selection, − out, W S, or the wheel with Ctrl, zoom in and out at the cursor, A D move left and right, Esc clears.</p>}
      {lost.length > 0 && <p class="hint">Shaded: events were lost. Lines end there.</p>}
      {requests && <p class="hint">{requestsSummary(requests)}. In the chart of requests, ← → move in time, ↑ ↓ to slower and faster ones, Enter selects the time of one.</p>}
      <div class="chart-grid">
        {requests && (
          <Chart
            {...common} id="requests" title="Requests, by how long they took" height={180} axis version={`${version}.${requests.length}`}
            summary={requestsSummary(requests)}
            legend={shares.map((s) => ({ label: s.label, colour: s.of(variables) }))}
            series={() => [{ show: false }]}
            draw={(from, to) => scaleRequests(requests, from, to)}
            overlay={(u, s, c) => drawRequests(u, s, requests, c, request)}
            overlaid={request}
            read={() => (request < 0 ? null : requestReading(requests, request))}
            hover={(u, place) => setRequest(place ? nearestRequest(u, requests, place.left, place.top) : -1)}
            press={(event) => {
              if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || requests.length === 0) return false;
              if (event.key === "Enter" && request >= 0) {
                const from = Math.floor(requests.start[request]);
                store.set({ from, to: from + Math.ceil(requests.took(request)) + 1 });
                return true;
              }
              const to = nextRequest(requests, event.key, request);
              if (to === undefined) return false;
              group.moveTo(requests.start[to]);
              setRequest(to);
              return true;
            }}
            units={durations} floor={requests.floor}
          />
        )}
        {prepared.paused && <Chart
          {...common} id="pauses" title={floor === null ? "Pauses" : "Pauses, logarithmic"} height={180} axis
          summary={`${plural(selection.totals.count, "GC")} selected, longest pause ${duration(selection.totals.longest)}`}
          legend={classes.filter((_, c) => present[c]).map((c) => ({ label: c.label, colour: variables[c.id] }))}
          series={(c) => colours(c).map(floor === null ? () => overlaid : dotted)}
          overlay={(u, _, c) => floor === null && drawBars(u, colours(c), 1)}
          draw={(from, to, width) => drawPauses(prepared, floor, from, to, Math.max(50, floor === null ? width / 2 : width))}
          control={<button type="button" aria-pressed={floor !== null} title={tenfoldWords} onClick={() => store.set({ axis: floor === null ? "log" : "linear" })}>Logarithmic</button>}
          units={durations} floor={floor} read={read.pauses}
        />}
        {generations.length > 0 && (
          <Chart
            {...common} id="heap" title="Heap before and after each GC" height={180} axis
            summary={`by generation; largest ${bytes(selection.totals.largest)}`}
            legend={generations.map((g) => ({ label: g.label, colour: variables[g.colour] }))}
            series={(c) => drawn.map((g) => ({ fill: tint(c[g.colour]), stroke: c[g.colour], width: 1, points: points(c[g.colour]) }))}
            bands={drawn.slice(1).map((_, i) => ({ series: [i + 1, i + 2] as [number, number] }))}
            draw={(from, to, width) => drawHeap(prepared, from, to, Math.max(50, width / 2))}
            units={sizes} read={read.heap}
          />
        )}
        {generations.length === 0 && has.sizes && (
          <Chart
            {...common} id="heap" title="Heap after each GC" height={180} axis summary={`largest ${bytes(selection.totals.largest)}`}
            legend={[{ label: "heap", colour: variables.gen2 }]}
            series={(c) => [{ fill: tint(c.gen2), stroke: c.gen2, width: 1, points: points(c.gen2) }]}
            draw={(from, to, width) => drawLine(prepared, from, to, Math.max(50, width / 2))}
            units={sizes} read={read.heap}
          />
        )}
        {has.allocated && (
          <Chart
            {...common} id="rate" title="Allocation rate" height={140} axis summary={`${allocated.is}${bytes(allocated.bytes)} allocated`}
            legend={[{ label: "allocated per second", colour: variables.accent }]}
            series={(c) => [{ fill: tint(c.accent), stroke: c.accent, width: 1, points: points(c.accent), paths: uPlot.paths.stepped!({ align: -1 }) }]}
            draw={(from, to, width) => drawRate(prepared, from, to, Math.max(50, width / 2))}
            units={rates} read={read.rate}
          />
        )}
        {(has.committed || has.load) && (
          <Chart
            {...common} id="committed" title={`Committed memory${p.header.hard_limit_bytes ? ", limit" : ""}${has.load ? " and memory load" : ""}`} height={140} axis
            summary={p.header.hard_limit_bytes ? `heap hard limit ${bytes(p.header.hard_limit_bytes)}` : "no heap hard limit recorded"}
            legend={[
              { label: "committed", colour: variables.gen1 },
              ...(p.header.hard_limit_bytes ? [{ label: "hard limit", colour: variables.gen2, dashed: true }] : []),
              ...(has.load ? [{ label: "memory load (right)", colour: variables.text }] : []),
            ]}
            series={(c) => [
              { fill: tint(c.gen1), stroke: c.gen1, width: 1.5, points: points(c.gen1) },
              { stroke: c.gen2, width: 1.5, dash: [6, 4], points: { show: false } },
              { stroke: c.text, width: 1.5, scale: "right", points: points(c.text) },
            ]}
            right={{ units: percents, range: [0, 100] }}
            draw={(from, to, width) => drawCommitted(prepared, from, to, Math.max(50, width / 2))}
            units={sizes} read={read.committed}
          />
        )}
        {present[3] && (
          <Chart
            {...common} id="phases" title="Background GCs" height={76} axis
            summary={phasesSummary(p, prepared.background.length)}
            legend={phaseLegend(p)}
            series={() => [{ show: false }]}
            lanes={["GC"]}
            draw={(from, to) => ({ data: [[from / 1e6, to / 1e6], [0, 1]], top: 1 / 1.05 })}
            overlay={(u, s, c) => drawPhases(u, s, prepared, c)}
            units={sizes} read={read.phases}
          />
        )}
      </div>
      {present[3] && <p class="hint">{phasesSummary(p, prepared.background.length)}.</p>}
      {present[3] && p.header.phases.length === 0 && p.header.record.phases && <Command text={p.header.record.phases} />}
      <Unrecorded lost={lost.length > 0} names={[...(prepared.paused ? [] : ["pauses"]), ...(generations.length === 0 && !has.sizes ? ["heap sizes"] : []), ...(has.allocated ? [] : ["allocation rate"])]} command={p.header.record.collections} />
      {!has.committed && <p class="hint">Committed memory: not recorded. Only .NET 8 and later record it, with regions.</p>}
      <Further all={p.header.record.others ?? []} />
    </section>
  );
}

/** The charts whose figures the trace lacks, and the command that records them. */
function Unrecorded({ lost, names, command }: { lost: boolean; names: string[]; command: string }): JSX.Element | null {
  if (names.length === 0) return null;
  if (lost) return <p class="hint">Unknown, because events were lost: {names.join(", ")}.</p>;
  return (
    <div class="unrecorded">
      <p class="hint">Not recorded: {names.join(", ")}.{command && " The GC events of .NET's runtime provider, keyword gc (0x1), have them:"}</p>
      {command && <Command text={command} />}
    </div>
  );
}

/** What the page would show besides, and the commands that record it. */
function Further({ all }: { all: { name: string; what: string; command: string }[] }): JSX.Element | null {
  if (all.length === 0) return null;
  return (
    <details class="further">
      <summary>Not recorded: {all.map((u) => u.name).join(", ")}. How to record them</summary>
      <ul>
        {all.map(({ what, command }) => <li key={what}><p class="hint">{what}</p><Command text={command} /></li>)}
      </ul>
    </details>
  );
}

/** The collection that is pointed at. */
function Pointed({ p, row }: { p: Process; row: number }): JSX.Element {
  if (row < 0 || row >= p.rows) return <p class="pointed" aria-live="polite" />;
  const words = [
    `GC ${p.get("number")[row]}`,
    classes[classOf(p)(row)]?.label ?? "",
    p.head.words.reasons[p.get("reason")[row]] ?? "",
    `pause ${duration(p.get("pause_us")[row])}`,
    beganLater(p, row) && `GC started ${beganLater(p, row)}`,
    `heap ${bytes(p.get("heap_before_bytes")[row])} → ${bytes(p.get("heap_after_bytes")[row])}`,
    rate(rateOf(p)(row)),
  ].filter((w) => w !== "");
  return (
    <p class="pointed" aria-live="polite">
      <b>{moment(p.time[row])}</b> {words.join(" · ")}
    </p>
  );
}

/** The colours of pauses: of those that are not selected, and of the others by their class. */
const colours = (c: Palette) => [c.faded, ...classes.map((k) => c[k.id])];

/** A logarithmic axis has no zero where bars could begin. */
const dotted = (colour: string): uPlot.Series => ({ paths: () => null, stroke: colour, points: { show: true, size: 4 * scale, width: 0, fill: colour } });

/** The longest pauses; on a logarithmic axis, as powers of ten above its floor. */
function drawPauses({ pauses, others }: Prepared, floor: number | null, from: number, to: number, buckets: number): Drawing {
  const points: { at: number; series: number; height: number }[] = [];
  let top = 0;
  const add = (of: Pauses[], series: (c: number) => number) =>
    of.forEach((list, c) => {
      for (const i of longest(list, from, to, buckets)) {
        const height = floor === null ? list.length[i] : Math.max(0, Math.log10(list.length[i]) - floor);
        points.push({ at: list.time[i], series: series(c), height });
        top = Math.max(top, height);
      }
    });
  if (others) add(others, () => 0);
  add(pauses, (c) => c + 1);
  points.sort((a, b) => a.at - b.at);
  const data: (number | null)[][] = [points.map((p) => p.at / 1e6)];
  for (let s = 0; s <= classes.length; s++) data.push(points.map((p) => (p.series === s ? p.height : null)));
  return { data: data as uPlot.AlignedData, top };
}

/** Lines through collections. They end where events were lost: what happened there is not known. */
class Lines {
  private readonly xs: number[] = [];
  private readonly ys: (number | null | undefined)[][];
  private row = -1;
  private last = 0;

  constructor(count: number, private readonly p: Process, private readonly lost: Stretch[]) {
    this.ys = Array.from({ length: count }, () => []);
  }

  /** Adds a collection's values at a time, those of one collection in order. An undefined value is passed over. */
  add(row: number, at: number, values: (number | undefined)[]): void {
    at = Math.max(at, this.last);
    if (row !== this.row && this.row >= 0 && lostBetween(this.lost, this.last, at)) this.point(at, this.ys.map(() => null));
    this.point(at, values);
    this.row = row;
    this.last = at;
  }

  /** When a collection's pause ends. */
  after(row: number): number {
    return this.p.time[row] + (this.p.get("pause_us")[row] || 0);
  }

  private point(at: number, values: (number | null | undefined)[]): void {
    this.xs.push(at / 1e6);
    values.forEach((v, i) => this.ys[i].push(v));
  }

  data(): uPlot.AlignedData {
    return [this.xs, ...this.ys] as uPlot.AlignedData;
  }
}

const known = (v: number) => (Number.isNaN(v) ? undefined : v);

/** When the heap has a collection's sizes after it: a background GC's at its end, long after its first pause. */
function settled(p: Process): (row: number) => number {
  const of = classOf(p);
  const [start, length, pause] = ["start_us", "duration_us", "pause_us"].map((name) => p.get(name));
  return (row) => (of(row) === 3 && start[row] + length[row] > p.time[row] ? start[row] + length[row] : p.time[row] + (pause[row] || 0));
}

/** Points of a heap chart, in order of time: other collections run while a background GC does. */
function heapLines(count: number, { process: p, lost }: Prepared, points: { row: number; at: number; values: number[] }[]): Drawing {
  const lines = new Lines(count, p, lost);
  points.sort((a, b) => a.at - b.at);
  for (const { row, at, values } of points) lines.add(row, at, values);
  return { data: lines.data(), top: points.reduce((top, { values }) => Math.max(top, ...values), 0) };
}

/** Two points for each collection: the sizes before it when it begins, and those after it when it ends. */
function drawHeap(prepared: Prepared, from: number, to: number, buckets: number): Drawing {
  const { process: p, heap, generations } = prepared;
  const end = settled(p);
  const points = heap.rows(from, to, buckets).flatMap((row) => (["before", "after"] as const).flatMap((when) => {
    let sum = 0;
    const stacked = generations.map((g) => (sum += p.get(`${g.name}_${when}_bytes`)[row]));
    return Number.isNaN(sum) ? [] : [{ row, at: when === "after" ? end(row) : p.time[row], values: stacked.reverse() }];
  }));
  return heapLines(generations.length, prepared, points);
}

/** The heap after each collection, when it ends. */
function drawLine(prepared: Prepared, from: number, to: number, buckets: number): Drawing {
  const { process: p, heap } = prepared;
  const values = p.get("heap_after_bytes");
  const end = settled(p);
  const rows = heap.rows(from, to, buckets).filter((row) => !Number.isNaN(values[row]));
  return heapLines(1, prepared, rows.map((row) => ({ row, at: end(row), values: [values[row]] })));
}

/** The shown times after a key of Perfetto's and Firefox' timelines: W and S zoom around the cursor, A and D move. */
function moved(key: string, state: State, end: number, cursor: number | null): Pick<State, "zoomFrom" | "zoomTo"> {
  const from = state.zoomFrom ?? 0;
  const to = state.zoomTo ?? end;
  const length = Math.min(end, Math.max(Math.min(1000, end), (to - from) * (key === "w" ? 0.5 : key === "s" ? 2 : 1)));
  const at = cursor !== null && cursor >= from && cursor <= to ? cursor : (from + to) / 2;
  const step = key === "a" ? -length / 4 : key === "d" ? length / 4 : 0;
  const begin = at - ((at - from) / Math.max(1, to - from)) * length + step;
  const zoomFrom = Math.floor(Math.min(end - length, Math.max(0, begin)));
  return length >= end ? { zoomFrom: null, zoomTo: null } : { zoomFrom, zoomTo: Math.ceil(zoomFrom + length) };
}

/** What a legend says where a rate is the mean over stretches of time. */
export const meanOf = (us: number) => `means over ${duration(Number(us.toPrecision(2)))}`;

/** The rate between collections, or over equal stretches of time where there are many; a gap where it is not known. */
function drawRate({ process: p, allocated: { bytes, unknown }, lost }: Prepared, from: number, to: number, buckets: number): Drawing {
  const first = Math.max(0, p.rowAt(from) - 1);
  const last = Math.min(bytes.length - 1, p.rowAt(to) + 1); // others were added since
  const xs: number[] = [];
  const ys: (number | null)[] = [];
  let begin = first;
  let gap = true;
  const step = (end: number) => {
    if (unknown[end + 1] > unknown[begin + 1] || lostBetween(lost, p.time[begin], p.time[end])) {
      gap = true;
      begin = end;
      return;
    }
    const elapsed = p.time[end] - p.time[begin];
    if (elapsed <= 0) return; // of one pause: counts toward the next
    const rate = ((bytes[end + 1] - bytes[begin + 1]) / elapsed) * 1e6;
    if (gap) {
      xs.push(p.time[begin] / 1e6, p.time[begin] / 1e6);
      ys.push(null, rate);
    }
    xs.push(p.time[end] / 1e6);
    ys.push(rate);
    gap = false;
    begin = end;
  };
  let note = "";
  if (last - first <= buckets) {
    for (let row = first + 1; row < last; row++) step(row);
  } else {
    const width = (to - from) / buckets;
    note = meanOf(width);
    for (let b = 1; b <= buckets; b++) {
      const end = Math.min(last - 1, p.rowAt(from + b * width));
      if (end > begin) step(end);
    }
  }
  return { data: [xs, ys], top: ys.reduce((top: number, v) => Math.max(top, v ?? 0), 0), note };
}

function drawCommitted({ process: p, committed: extremes, lost }: Prepared, from: number, to: number, buckets: number): Drawing {
  const committed = p.get("committed_after_bytes");
  const load = p.get("memory_load_pct");
  const limit = p.header.hard_limit_bytes ?? undefined;
  const lines = new Lines(3, p, lost);
  let top = limit ?? 0;
  const rows = extremes.rows(from, to, buckets);
  const edge = (at: number) => limit !== undefined && lines.add(-1, at, [undefined, limit, undefined]);
  edge(Math.min(from, p.time[rows[0]] ?? from));
  for (const row of rows) {
    const values = [known(committed[row]), limit, known(load[row] || NaN)]; // .NET writes 0 for a GC within the suspension of a background GC
    lines.add(row, p.time[row], values);
    lines.add(row, lines.after(row), values);
    top = Math.max(top, committed[row] || 0);
  }
  edge(to);
  return { data: lines.data(), top };
}
