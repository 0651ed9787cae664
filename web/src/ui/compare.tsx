import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { durations, rates as perSecond, sizes, tenfold } from "../charts/axis";
import { meanOf } from "../charts/charts";
import { Chart, Group, drawBars, overlaid, type Drawing } from "../charts/chart";
import { usePalette, variables } from "../charts/palette";
import { classes, lowerBound, longest, prepare, type Prepared } from "../charts/series";
import type { Process } from "../data/process";
import { percentile } from "../data/condition";
import { emptySelection, select, sums, wholeOf, type Selection, type SizeSum } from "../state/selection";
import { useStore, type Store } from "../state/store";
import { bytes, count, duration, percent, unknown } from "../units";
import { Toolbar } from "./toolbar";

interface Side {
  label: "before" | "after";
  process: Process;
}

/** What changed between two runs, or two sets of runs. Charts show the first run of each side. */
export function Compare({ store }: { store: Store }): JSX.Element {
  const comparison = store.data.head.comparison!;
  const sides = useMemo(() => (["before", "after"] as const).flatMap((label): Side[] => {
    const process = store.data.processes.find((p) => p.trace.side === label);
    return process ? [{ label, process }] : [];
  }), [store]);
  return (
    <>
      <section class="verdict unknown" aria-label="Comparison">
        <p class="sentence">{comparison.summary}</p>
        <p class="facts">Before: {comparison.before.join(", ")}. After: {comparison.after.join(", ")}.</p>
        {comparison.notes.map((note) => <p key={note} class="facts">{note}</p>)}
      </section>
      <section aria-labelledby="metrics-title">
        <h2 id="metrics-title">Metrics</h2>
        <div class="wide">
          <table class="plain metrics">
            <thead><tr><th scope="col">metric</th><th scope="col">verdict</th><th scope="col" class="number">before</th><th scope="col" class="number">after</th><th scope="col" class="number">change</th><th scope="col" class="number">95 % interval</th><th scope="col">note</th></tr></thead>
            <tbody>
              {comparison.metrics.map((m) => (
                <tr key={m.name} class={`${m.verdict} ${m.explains ? "part" : ""}`}>
                  <th scope="row">{m.name}</th><td><span class="badge">{m.word}</span></td><td class="number">{m.before}</td><td class="number">{m.after}</td><td class="number">{minus(m.change)}</td><td class="number">{minus(m.interval)}</td><td>{m.note}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {comparison.causes.length > 0 && (
        <section aria-labelledby="causes-title">
          <h2 id="causes-title">Causes that changed</h2>
          <p class="hint">Share of GCs; for types, of allocated bytes; for findings, of runs.</p>
          <table class="plain">
            <thead><tr><th scope="col">cause</th><th scope="col" class="number">before</th><th scope="col" class="number">after</th></tr></thead>
            <tbody>{comparison.causes.map(([name, before, after]) => <tr key={name}><th scope="row">{name}</th><td class="number">{before} %</td><td class="number">{after} %</td></tr>)}</tbody>
          </table>
        </section>
      )}
      {sides.length === 2 && <Toolbar store={store} counts={false} />}
      {sides.length === 2 && <Overlay store={store} sides={sides} />}
    </>
  );
}

const colours = { before: "poh", after: "accent" } as const;

/** Both sides over the time since their start, and their pauses. */
function Overlay({ store, sides }: { store: Store; sides: Side[] }): JSX.Element {
  const state = useStore(store, (s) => s.state);
  const palette = usePalette(state.theme);
  const [prepared, setPrepared] = useState<Prepared[] | null>(null);
  const [selections, setSelections] = useState<Selection[]>([]);
  useEffect(() => {
    let stale = false;
    void (async () => {
      const found: Selection[] = [];
      const made: Prepared[] = [];
      for (const { process } of sides) {
        const selection = await select(process, { ...state, sort: "" }, emptySelection, () => stale);
        if (!selection) return;
        found.push(selection);
        const one = await prepare(process, JSON.stringify([state.where, state.pick]), selection.all ? null : selection.meets, () => stale);
        if (!one) return;
        made.push(one);
      }
      if (stale) return;
      setSelections(found);
      setPrepared(made);
    })();
    return () => {
      stale = true;
    };
  }, [sides, state.from, state.to, state.where, state.pick]);
  const group = useMemo(() => new Group((from, to) => store.set({ from, to }), (us) => group.moveTo(us), () => undefined, (event) => {
    if (event.key === "Escape") store.set({ from: null, to: null });
    else if (event.key === "+" || event.key === "z") store.set({ zoomFrom: store.state.from, zoomTo: store.state.to });
    else if (event.key === "-") store.set({ zoomFrom: null, zoomTo: null });
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const step = end / 50;
      const at = Math.min(end, Math.max(0, (group.cursor ?? 0) + (event.key === "ArrowRight" ? step : -step)));
      if (event.shiftKey) store.set({ from: Math.min(store.state.from ?? at, at), to: Math.max(store.state.to ?? at, at) + 1 });
      group.moveTo(at);
    } else return;
    event.preventDefault();
  }), [store]);
  const end = Math.max(...sides.map((s) => s.process.end));
  if (!prepared) return <section aria-busy="true" />;

  const allocated = ({ process, totals }: Selection) => sums(totals, wholeOf(process, state)).allocated;
  const span = { from: state.zoomFrom ?? 0, to: state.zoomTo ?? end, selectedFrom: state.from, selectedTo: state.to };
  const common = { span, palette, group, version: prepared.map((p) => p.key).join(), legend: sides.map((s) => ({ label: s.label, colour: variables[colours[s.label]] })), axis: true };
  const lines = (of: (prepared: Prepared, from: number, to: number, buckets: number) => [number, number][]) => (from: number, to: number, width: number) => joined(prepared.map((p) => of(p, from, to, Math.max(50, width / 2))));
  return (
    <>
      <section class="charts" aria-labelledby="overlay-title">
        <h2 id="overlay-title">Over time, each from its start</h2>
        <div class="chart-grid">
          <Chart {...common} id="pauses" title="Pauses" height={170} summary={`longest ${selections.map((s) => duration(s.totals.longest)).join(" before, ")} after`}
            series={() => sides.map(() => overlaid)} overlay={(u, _, c) => drawBars(u, sides.map((s) => c[colours[s.label]]))}
            draw={lines((p, from, to, buckets) => p.pauses.flatMap((list) => longest(list, from, to, buckets).map((i): [number, number] => [list.time[i], list.length[i]])))} units={durations} />
          <Chart {...common} id="heap" title="Heap after each GC" height={150} summary={`largest ${selections.map((s) => bytes(s.totals.largest)).join(" before, ")} after`}
            series={(c) => sides.map((s) => ({ stroke: c[colours[s.label]], width: 1.5, spanGaps: true, points: { show: false } }))}
            draw={lines((p, from, to, buckets) => values(p, "heap_after_bytes", from, to, buckets))} units={sizes} />
          <Chart {...common} id="rate" title="Allocation rate" height={130} summary={selections.map((s) => allocated(s).is + bytes(allocated(s).bytes)).join(" before, ") + " after"}
            series={(c) => sides.map((s) => ({ stroke: c[colours[s.label]], width: 1.5, spanGaps: true, points: { show: false }, paths: uPlot.paths.stepped!({ align: -1 }) }))}
            draw={(from, to, width) => ({ ...lines(rates)(from, to, width), note: meanOf((to - from) / stretches(width / 2)) })} units={perSecond} />
        </div>
      </section>
      <section class="distribution" aria-labelledby="both-title">
        <h2 id="both-title">Pauses before and after</h2>
        <div class="pair">
          <Figures sides={sides} selections={selections} allocated={allocated} />
          <Shares sides={sides} pauses={selections.map((s) => s.pauses.all)} />
        </div>
      </section>
    </>
  );
}

/** Series of points as one table of times, with gaps where a series has none. */
function joined(series: [number, number][][]): Drawing {
  const points = series.flatMap((list, i) => list.map(([at, value]) => ({ at, value, i })));
  points.sort((a, b) => a.at - b.at);
  const data: (number | null)[][] = [points.map((p) => p.at / 1e6), ...series.map((_, i) => points.map((p) => (p.i === i ? p.value : null)))];
  return { data: data as uPlot.AlignedData, top: points.reduce((top, p) => Math.max(top, p.value), 0) };
}

function values(p: Prepared, name: string, from: number, to: number, buckets: number): [number, number][] {
  const of = p.process.get(name);
  return p.heap.rows(from, to, buckets).filter((row) => !Number.isNaN(of[row])).map((row) => [p.process.time[row], of[row]]);
}

/** Of how many stretches of time the rates are. */
const stretches = (buckets: number) => Math.min(200, Math.max(50, buckets));

/** Allocation rates over equal stretches of time. */
function rates({ process: p, allocated }: Prepared, from: number, to: number, buckets: number): [number, number][] {
  const found: [number, number][] = [];
  const width = (to - from) / stretches(buckets);
  let begin = Math.max(0, p.rowAt(from) - 1);
  for (let at = from + width; at <= to + 1; at += width) {
    const end = Math.min(p.rows - 1, p.rowAt(at));
    const elapsed = p.time[end] - p.time[begin];
    if (end <= begin || elapsed <= 0) continue;
    if (allocated.unknown[end + 1] > allocated.unknown[begin + 1]) {
      begin = end;
      continue;
    }
    found.push([p.time[end], ((allocated.bytes[end + 1] - allocated.bytes[begin + 1]) / elapsed) * 1e6]);
    begin = end;
  }
  return found;
}

/** A text with the sign for minus in place of hyphens before figures. */
const minus = (text: string) => text.replace(/-(?=[\d∞])/g, "−");

/** A change in percent. */
function signed(change: number): string {
  if (!Number.isFinite(change)) return unknown;
  const text = percent(Math.abs(change));
  return change === 0 || text.startsWith("<") ? text : (change < 0 ? "−" : "+") + text;
}

/** Figures of both sides. */
function Figures({ sides, selections, allocated }: { sides: Side[]; selections: Selection[]; allocated: (s: Selection) => SizeSum }): JSX.Element {
  const of = (p: Selection, c: number, share: number) => percentile(c < 0 ? p.pauses.all : p.pauses.byClass[c], share);
  const rows: { label: string; value: (s: Selection) => number; text: (v: number) => string; is?: (s: Selection) => string }[] = [
    { label: "GCs", value: (s) => s.totals.count, text: count },
    { label: "total pause", value: (s) => s.totals.pause, text: duration, is: (s) => s.totals.pauseIs },
    ...[50, 90, 99, 100].map((share) => ({ label: share === 100 ? "longest pause" : `p${share}`, value: (s: Selection) => of(s, -1, share), text: duration })),
    ...classes.map((k, c) => ({ label: `p99, ${k.label}`, value: (s: Selection) => of(s, c, 99), text: duration })),
    { label: "allocated", value: (s) => allocated(s).bytes, text: bytes, is: (s) => allocated(s).is },
    { label: "promoted", value: (s) => s.totals.promoted, text: bytes, is: (s) => s.totals.promotedIs },
    { label: "largest heap", value: (s) => s.totals.largest, text: bytes },
  ];
  return (
    <table class="plain">
      <caption class="hidden">Figures of the selected GCs</caption>
      <thead><tr><th scope="col" />{sides.map((s) => <th scope="col" class="number" key={s.label}>{s.label}</th>)}<th scope="col" class="number">difference</th></tr></thead>
      <tbody>
        {rows.map(({ label, value, text, is }) => {
          const [before, after] = selections.map(value);
          if (Number.isNaN(before) && Number.isNaN(after)) return null;
          const [ofBefore, ofAfter] = selections.map((s) => is?.(s) ?? "");
          const change = ofBefore || ofAfter ? unknown : signed((100 * (after - before)) / before);
          return (
            <tr key={label}><th scope="row">{label}</th><td class="number">{ofBefore + text(before)}</td><td class="number">{ofAfter + text(after)}</td><td class="number">{change}</td></tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** How many pauses are as long or longer, by length. */
function Shares({ sides, pauses }: { sides: Side[]; pauses: Float64Array[] }): JSX.Element | null {
  const most = Math.max(...pauses.map((p) => p[p.length - 1] ?? 0));
  const least = Math.max(1, Math.min(...pauses.map((p) => p[0] ?? Infinity)));
  if (!(most > least)) return null;
  const [width, height, left, right, bottom] = [600, 264, 64, 34, 26];
  const steps = Array.from({ length: 8 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();
  const begin = steps.findLast((us) => us <= least)!;
  const end = steps.find((us) => us > most) ?? most * 1.1; // beyond the longest, so that its step is drawn
  const x = (us: number) => left + (Math.log(us / begin) / Math.log(end / begin)) * (width - left - right);
  const y = (share: number) => 6 + (1 - share) * (height - bottom - 6);
  const path = (of: Float64Array) => {
    let d = "";
    for (let i = 0; i <= 200; i++) {
      const us = begin * (end / begin) ** (i / 200);
      const share = of.length === 0 ? 0 : 1 - lowerBound(of, us) / of.length;
      d += `${i === 0 ? "M" : "L"}${x(us).toFixed(1)} ${y(share).toFixed(1)}`;
    }
    return d;
  };
  const shown = steps.filter((us) => us >= begin && us <= end);
  const power = (us: number) => Number.isInteger(Math.log10(us));
  const edges = end / begin > 100 ? [] : [begin, end];
  const ticks = end / begin > 20 ? shown.filter((us) => power(us) || edges.includes(us)) : shown; // labels that do not touch on a telephone
  return (
    <figure class="shares">
      <figcaption>Share of pauses that are as long or longer, by length</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={sides.map((s, i) => `${s.label}: median ${duration(percentile(pauses[i], 50))}, longest ${duration(percentile(pauses[i], 100))}`).join("; ")}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share}><line x1={left} x2={width - right} y1={y(share)} y2={y(share)} /><text x={left - 6} y={y(share) + 4} text-anchor="end">{share * 100} %</text></g>
        ))}
        {ticks.map((us) => <text key={us} x={x(us)} y={height - 4} text-anchor="middle">{tenfold(Math.log10(us), [0])}</text>)}
        {sides.map((s, i) => <path key={s.label} d={path(pauses[i])} style={{ stroke: variables[colours[s.label]] }} />)}
      </svg>
    </figure>
  );
}

