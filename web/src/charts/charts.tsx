import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import uPlot from "uplot";
import { rateOf } from "../data/condition";
import type { Process } from "../data/process";
import type { State } from "../state/state";
import { useStore, type Store } from "../state/store";
import { Command } from "../ui/parts";
import { bytes, count, duration, moment, percent, plural, rate } from "../units";
import { Chart, Group, bars, type Drawing, type Span } from "./chart";
import { usePalette, variables, type Palette } from "./palette";
import { drawRequests, nearestRequest, nextRequest, requestsSummary, RequestWords, scaleRequests, shares, tenfold, useRequests } from "./requests";
import { classes, classOf, longest, lostBetween, prepare, type Pauses, type Prepared, type Stretch } from "./series";

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
    const point = (us: number | null) => {
      group.moveTo(us);
      setPointed(us === null ? -1 : nearest(us));
    };
    const select = (from: number | null, to: number | null) => store.set({ from, to });
    const group: Group = new Group(select, point, (us) => {
      const row = nearest(us);
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
  const drawn = [...generations].reverse(); // the fill of a line reaches down to the next
  const version = prepared.key;
  const common = { span, palette, group, version, lost };
  const present = classes.map((_, c) => pauses[c].row.length > 0 || (others?.[c].row.length ?? 0) > 0);

  return (
    <section class="charts" aria-labelledby="charts-title">
      <header class="section-head">
        <h2 id="charts-title">Timeline</h2>
        {requests && request >= 0 ? <p class="pointed" aria-live="polite"><RequestWords r={requests} i={request} /></p> : <Pointed p={p} row={pointed} />}
      </header>
      <p class="hint">Drag to select a time, click for the details of a GC. Keys: ← → move, with Shift select, Enter details, + zooms to the selection, − out, W S zoom in and out at the cursor, A D move left and right, Esc clears.</p>
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
            value={(v) => tenfold(requests, v)}
          />
        )}
        <Chart
          {...common} id="pauses" title="Pauses" height={180} axis
          summary={`${plural(selection.totals.count, "GC")} selected, longest pause ${duration(selection.totals.longest)}`}
          legend={classes.filter((_, c) => present[c]).map((c) => ({ label: c.label, colour: variables[c.id] }))}
          series={(c) => [{ paths: bars, fill: c.faded, stroke: c.faded, points: { show: false } }, ...classes.map((k) => ({ paths: bars, fill: c[k.id], stroke: c[k.id], points: { show: false } }))]}
          draw={(from, to, width) => drawPauses(pauses, others, from, to, Math.max(50, width / 2))}
          value={duration}
        />
        {generations.length > 0 && (
          <Chart
            {...common} id="heap" title="Heap before and after each GC" height={180} axis
            summary={`by generation; largest ${bytes(selection.totals.largest)}`}
            legend={generations.map((g) => ({ label: g.label, colour: variables[g.colour] }))}
            series={(c) => drawn.map((g) => ({ fill: tint(c[g.colour]), stroke: c[g.colour], width: 1, points: { show: false } }))}
            bands={drawn.slice(1).map((_, i) => ({ series: [i + 1, i + 2] as [number, number] }))}
            draw={(from, to, width) => drawHeap(prepared, from, to, Math.max(50, width / 2))}
            value={bytes}
          />
        )}
        {generations.length === 0 && has.sizes && (
          <Chart
            {...common} id="heap" title="Heap after each GC" height={180} axis summary={`largest ${bytes(selection.totals.largest)}`}
            legend={[{ label: "heap", colour: variables.gen2 }]}
            series={(c) => [{ fill: tint(c.gen2), stroke: c.gen2, width: 1, points: { show: false } }]}
            draw={(from, to, width) => drawLine(prepared, from, to, Math.max(50, width / 2))}
            value={bytes}
          />
        )}
        {has.allocated && (
          <Chart
            {...common} id="rate" title="Allocation rate" height={140} axis summary={`${selection.totals.allocatedIs}${bytes(selection.totals.allocated)} allocated`}
            legend={[{ label: "allocated per second", colour: variables.accent }]}
            series={(c) => [{ fill: tint(c.accent), stroke: c.accent, width: 1, points: { show: false }, paths: uPlot.paths.stepped!({ align: -1 }) }]}
            draw={(from, to, width) => drawRate(prepared, from, to, Math.max(50, width / 2))}
            value={rate}
          />
        )}
        {(has.committed || has.load) && (
          <Chart
            {...common} id="committed" title="Committed memory, limit and memory load" height={140} axis
            summary={p.header.hard_limit_bytes ? `heap hard limit ${bytes(p.header.hard_limit_bytes)}` : "no heap hard limit recorded"}
            legend={[
              { label: "committed", colour: variables.gen1 },
              ...(p.header.hard_limit_bytes ? [{ label: "hard limit", colour: variables.gen2, dashed: true }] : []),
              ...(has.load ? [{ label: "memory load (right)", colour: variables.muted }] : []),
            ]}
            series={(c) => [
              { fill: tint(c.gen1), stroke: c.gen1, width: 1.5, points: { show: false } },
              { stroke: c.gen2, width: 1.5, dash: [6, 4], points: { show: false } },
              { stroke: c.muted, width: 1, scale: "right", points: { show: false } },
            ]}
            right={{ value: (v) => percent(v), range: [0, 100] }}
            draw={(from, to, width) => drawCommitted(prepared, from, to, Math.max(50, width / 2))}
            value={bytes}
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
            value={() => ""}
          />
        )}
      </div>
      {present[3] && <p class="hint">{phasesSummary(p, prepared.background.length)}.</p>}
      {present[3] && p.header.phases.length === 0 && p.header.record.phases && <Command text={p.header.record.phases} />}
      <Unrecorded lost={lost.length > 0} names={[...(generations.length === 0 && !has.sizes ? ["heap sizes"] : []), ...(has.allocated ? [] : ["allocation rate"])]} command={p.header.record.collections} />
      {!has.committed && <p class="hint">Committed memory: not recorded. .NET 8 and later record it, with regions.</p>}
      <Further all={p.header.record.others ?? []} />
      {lost.length > 0 && <p class="hint">Shaded: events were lost. Lines end there.</p>}
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
    `heap ${bytes(p.get("heap_before_bytes")[row])} → ${bytes(p.get("heap_after_bytes")[row])}`,
    rate(rateOf(p)(row)),
  ].filter((w) => w !== "");
  return (
    <p class="pointed" aria-live="polite">
      <b>{moment(p.time[row])}</b> {words.join(" · ")}
    </p>
  );
}

/** A colour, #rrggbb, for an area below a line of it. */
function tint(colour: string): string {
  return `${colour}70`;
}

function drawPauses(pauses: Pauses[], others: Pauses[] | null, from: number, to: number, buckets: number): Drawing {
  const points: { at: number; series: number; length: number }[] = [];
  let top = 0;
  const add = (of: Pauses[], series: (c: number) => number) =>
    of.forEach((list, c) => {
      for (const i of longest(list, from, to, buckets)) {
        points.push({ at: list.time[i], series: series(c), length: list.length[i] });
        top = Math.max(top, list.length[i]);
      }
    });
  if (others) add(others, () => 0);
  add(pauses, (c) => c + 1);
  points.sort((a, b) => a.at - b.at);
  const data: (number | null)[][] = [points.map((p) => p.at / 1e6)];
  for (let s = 0; s <= classes.length; s++) data.push(points.map((p) => (p.series === s ? p.length : null)));
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

/** Two points for each collection: the sizes before it when it begins, and those after it when it ends. */
function drawHeap({ process: p, heap, generations, lost }: Prepared, from: number, to: number, buckets: number): Drawing {
  const lines = new Lines(generations.length, p, lost);
  let top = 0;
  for (const row of heap.rows(from, to, buckets)) {
    for (const when of ["before", "after"] as const) {
      let sum = 0;
      const stacked = generations.map((g) => (sum += p.get(`${g.name}_${when}_bytes`)[row]));
      if (Number.isNaN(sum)) continue;
      lines.add(row, when === "after" ? lines.after(row) : p.time[row], stacked.reverse());
      top = Math.max(top, sum);
    }
  }
  return { data: lines.data(), top };
}

/** The heap after each collection, when it ends. */
function drawLine({ process: p, heap, lost }: Prepared, from: number, to: number, buckets: number): Drawing {
  const values = p.get("heap_after_bytes");
  const rows = heap.rows(from, to, buckets).filter((row) => !Number.isNaN(values[row]));
  const lines = new Lines(1, p, lost);
  for (const row of rows) {
    lines.add(row, p.time[row], [values[row]]);
    lines.add(row, lines.after(row), [values[row]]);
  }
  return { data: lines.data(), top: Math.max(0, ...rows.map((row) => values[row])) };
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
  if (last - first <= buckets) {
    for (let row = first + 1; row < last; row++) step(row);
  } else {
    const width = (to - from) / buckets;
    for (let b = 1; b <= buckets; b++) {
      const end = Math.min(last - 1, p.rowAt(from + b * width));
      if (end > begin) step(end);
    }
  }
  return { data: [xs, ys], top: Math.max(0, ...ys.map((v) => v ?? 0)) };
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
    const values = [known(committed[row]), limit, known(load[row])];
    lines.add(row, p.time[row], values);
    lines.add(row, lines.after(row), values);
    top = Math.max(top, committed[row] || 0);
  }
  edge(to);
  return { data: lines.data(), top };
}

/** The colours of phases: those in which the program's threads are paused are the darkest. */
const phaseColours: Record<string, { label: string; of: (c: Palette) => string; pause: boolean }> = {
  initial_mark: { label: "initial mark (pause)", of: (c) => c.gen2, pause: true },
  concurrent_mark: { label: "concurrent mark", of: (c) => c.background, pause: false },
  final_mark: { label: "final mark (pause)", of: (c) => c.gen2, pause: true },
  sweep: { label: "sweep", of: (c) => c.gen1, pause: false },
};

/** How many background collections there are, and of how many the page has phases. */
function phasesSummary(p: Process, all: number): string {
  const some = p.header.phases.length;
  if (some === 0) return `${plural(all, "background GC")}; their phases were not recorded`;
  return some >= all ? `${plural(all, "background GC")} with their phases` : `${plural(all, "background GC")}, ${count(some)} of them with their phases; the others as pauses and concurrent work`;
}

function phaseLegend(p: Process) {
  if (p.header.phases.length === 0) {
    return [
      { label: "pause", colour: variables.gen2 },
      { label: "concurrent", colour: variables.background },
    ];
  }
  return ["initial_mark", "concurrent_mark", "sweep"].map((name) => ({ label: name === "initial_mark" ? "initial and final mark (pauses)" : phaseColours[name].label, colour: phaseColours[name].of(variables) }));
}

/** Draws each background collection as a bar, with its pauses, and its phases where they were recorded. */
function drawPhases(u: uPlot, span: Span, prepared: Prepared, palette: Palette): void {
  const p = prepared.process;
  const { ctx } = u;
  const top = u.bbox.top + u.bbox.height * 0.15;
  const height = u.bbox.height * 0.7;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  const drawnTo = new Map<string, number>(); // bars within a pixel that is drawn already are not seen
  const bar = (from: number, length: number, colour: string) => {
    if (from > span.to || from + length < span.from) return;
    const left = u.valToPos(from / 1e6, "x", true);
    const right = u.valToPos((from + length) / 1e6, "x", true);
    if (right < (drawnTo.get(colour) ?? 0)) return;
    drawnTo.set(colour, Math.floor(Math.max(right, left + devicePixelRatio)) + 1);
    ctx.fillStyle = colour;
    ctx.fillRect(left, top, Math.max(devicePixelRatio, right - left), height);
  };
  const begin = p.get("pause_start_us");
  const start = p.get("start_us");
  const length = p.get("duration_us");
  const pause = p.get("pause_us");
  const finalStart = p.get("final_start_us");
  const finalPause = p.get("final_pause_us");
  for (const row of prepared.background) {
    bar(start[row], length[row], tint(palette.background));
    const second = finalPause[row] || 0;
    bar(begin[row], pause[row] - second, palette.gen2);
    if (second > 0) bar(finalStart[row], second, palette.gen2);
  }
  for (const collection of p.header.phases) {
    for (const [phase, from, took] of collection.parts) {
      const known = phaseColours[p.head.words.phases[phase]];
      if (known && !known.pause) bar(from, took, known.of(palette));
    }
  }
  for (const collection of p.header.phases) {
    for (const [phase, from, took] of collection.parts) {
      const known = phaseColours[p.head.words.phases[phase]];
      if (known?.pause) bar(from, took, known.of(palette));
    }
  }
  ctx.restore();
}
