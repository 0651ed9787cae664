import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { percentile, written } from "../data/condition";
import { alike, columnUnits, tenfold } from "../charts/axis";
import { classes, lowerBound } from "../charts/series";
import { type Pauses } from "../state/selection";
import { useStore, type Store } from "../state/store";
import { count, duration, plural, unknown } from "../units";

const shares = [
  { label: "p50", p: 50, least: 2 },
  { label: "p90", p: 90, least: 2 },
  { label: "p99", p: 99, least: 2 },
  { label: "p99.9", p: 99.9, least: 1000 },
  { label: "longest", p: 100, least: 1 },
];

/** Percentiles and histogram of the pauses in the selected time. What is picked here does not narrow them. */
export function Distribution({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const pauses = useStore(store, (s) => s.selection.pauses);
  const recorded = useMemo(() => p?.get("pause_us").subarray(0, p.rows).some((us) => !Number.isNaN(us)), [p, pauses]);
  if (!recorded) return null;
  return (
    <section class="distribution" aria-labelledby="distribution-title">
      <h2 id="distribution-title">Pauses</h2>
      <div class="pair">
        <Percentiles store={store} pauses={pauses} />
        <Histogram store={store} pauses={pauses} />
      </div>
    </section>
  );
}

function Percentiles({ store, pauses }: { store: Store; pauses: Pauses }): JSX.Element {
  const pick = useStore(store, (s) => s.state.pick);
  const shown = classes.map((c, i) => ({ ...c, pauses: pauses.byClass[i] })).filter((c) => c.pauses.length > 0);
  const text = alike(columnUnits.time, pauses.all.subarray(-1)); // the longest
  const columns = [{ label: "all", condition: "", pauses: pauses.all }, ...(shown.length > 1 ? shown : [])];
  return (
    <div class="wide"><table class="percentiles">
      <caption>Select a percentile to see the GCs with pauses as long or longer</caption>
      <thead>
        <tr>
          <th scope="col" />
          {columns.map((c) => <th scope="col" key={c.label} class="number">{c.label}</th>)}
        </tr>
      </thead>
      <tbody>
        {shares.filter((s) => pauses.all.length >= s.least).map((s) => (
          <tr key={s.label}>
            <th scope="row">{s.label}</th>
            {columns.map((c) => {
              if (c.pauses.length < s.least) return <td key={c.label} class="number">{unknown}</td>;
              const us = percentile(c.pauses, s.p);
              const condition = [c.condition, `pause>=${written(us)}`].filter(Boolean).join(" and ");
              return (
                <td key={c.label} class="number">
                  <button type="button" aria-pressed={pick === condition} title={condition} aria-label={`${s.label} of ${c.label}: ${duration(us)}; select GCs as long or longer`} onClick={() => store.set({ pick: pick === condition ? "" : condition })}>
                    {text(us)}
                  </button>
                </td>
              );
            })}
          </tr>
        ))}
        <tr>
          <th scope="row">GCs</th>
          {columns.map((c) => (
            <td key={c.label} class="number">
              {c.condition === "" ? count(c.pauses.length) : (
                <button type="button" aria-pressed={pick === c.condition} aria-label={`${plural(c.pauses.length, "GC")} of ${c.label}: select them`} onClick={() => store.set({ pick: pick === c.condition ? "" : c.condition })}>
                  {count(c.pauses.length)}
                </button>
              )}
            </td>
          ))}
        </tr>
      </tbody>
    </table></div>
  );
}

const perDecade = [1, 1.5, 2, 3, 5, 7];

/** The bounds of buckets that hold all lengths, about equally wide on a logarithmic scale. */
function bounds(pauses: Float64Array): number[] {
  const least = Math.max(1, pauses[0]);
  const most = Math.max(least, pauses[pauses.length - 1]);
  const all: number[] = [];
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most * 10; decade *= 10) {
    for (const step of perDecade) all.push(Math.round(decade * step));
  }
  const distinct = [...new Set(all)];
  const first = Math.max(0, distinct.findIndex((b) => b > least) - 1);
  const last = distinct.findIndex((b) => b > most);
  return distinct.slice(first, last + 1);
}

function Histogram({ store, pauses }: { store: Store; pauses: Pauses }): JSX.Element | null {
  const pick = useStore(store, (s) => s.state.pick);
  const [begun, setBegun] = useState<number | null>(null);
  const [end, setEnd] = useState<number | null>(null);
  const [focused, setFocused] = useState(0);
  const place = useRef<SVGSVGElement>(null);
  const { edges, buckets, top } = useMemo(() => {
    if (pauses.all.length === 0) return { edges: [], buckets: [] as number[][], top: 0 };
    const edges = bounds(pauses.all);
    const below = edges.map((e, i) => pauses.byClass.map((of) => (i === 0 ? 0 : i === edges.length - 1 ? of.length : lowerBound(of, e))));
    const buckets = edges.slice(1).map((_, i) => classes.map((_, c) => below[i + 1][c] - below[i][c]));
    return { edges, buckets, top: Math.max(1, ...buckets.map((b) => b.reduce((x, y) => x + y, 0))) };
  }, [pauses]);
  useEffect(() => {
    const stop = () => setBegun(null);
    addEventListener("pointerup", stop);
    return () => removeEventListener("pointerup", stop);
  }, []);
  if (buckets.length === 0) return null;

  const condition = (a: number, b: number) => {
    const [first, last] = a < b ? [a, b] : [b, a];
    return `pause>=${written(first === 0 ? 0 : edges[first])} and pause<${written(edges[last + 1])}`;
  };
  const choose = (a: number, b: number) => {
    const text = condition(a, b);
    store.set({ pick: pick === text ? "" : text });
  };
  const range = /^pause>=([\d.]+)(us|ms) and pause<([\d.]+)(us|ms)$/.exec(pick);
  const us = (n: string, unit: string) => Number(n) * (unit === "ms" ? 1000 : 1);
  const chosen = (b: number) => {
    if (begun !== null && end !== null) return b >= Math.min(begun, end) && b <= Math.max(begun, end);
    return range !== null && edges[b + 1] > us(range[1], range[2]) && edges[b] < us(range[3], range[4]);
  };
  const height = 150;
  const width = 600;
  const step = width / buckets.length;
  const onKey = (event: KeyboardEvent) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (move) {
      const next = Math.min(buckets.length - 1, Math.max(0, focused + move));
      setFocused(next);
      place.current?.querySelectorAll<SVGGElement>("g[role=button]")[next]?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(focused, focused);
    } else if (event.key === "Escape") {
      store.set({ pick: "" });
    } else return;
    event.preventDefault();
  };
  const every = Math.ceil(buckets.length / 8);
  const room = 0.28; // of the width, for the label of the last edge and the one before it
  return (
    <figure class="histogram">
      <figcaption>GCs by length of pause. Click a bar, or drag across several, to select them. Tallest bar: {plural(top, "GC")}.</figcaption>
      <svg ref={place} viewBox={`0 0 ${width} ${height + 22}`} preserveAspectRatio="none" role="group" aria-label="Histogram of pauses" onKeyDown={onKey}>
        {buckets.map((b, i) => {
          const n = b.reduce((x, y) => x + y, 0);
          let y = height;
          return (
            <g
              key={edges[i]} role="button" tabIndex={i === focused ? 0 : -1} aria-pressed={chosen(i)} class={chosen(i) ? "chosen" : ""}
              aria-label={`${duration(edges[i])} to ${duration(edges[i + 1])}: ${plural(n, "GC")}`}
              onFocus={() => setFocused(i)}
              onPointerDown={(e) => {
                e.preventDefault();
                setBegun(i);
                setEnd(i);
              }}
              onPointerEnter={() => begun !== null && setEnd(i)}
              onPointerUp={() => {
                if (begun !== null) choose(begun, i);
                setBegun(null);
              }}
            >
              <title>{`${duration(edges[i])} to ${duration(edges[i + 1])}: ${plural(n, "GC")}`}</title>
              <rect class="hit" x={i * step} y={0} width={step} height={height} />
              {b.map((k, c) => {
                if (k === 0) return null;
                const tall = Math.max(2, (k / top) * (height - 6));
                y -= tall;
                return <rect key={c} class={classes[c].id} x={i * step + 1} y={y} width={step - 2} height={tall} />;
              })}
            </g>
          );
        })}
        <line x1="0" x2={width} y1={height} y2={height} />
      </svg>
      <div class="ticks" aria-hidden="true">
        {edges.map((e, i) => (i % every === 0 && i < buckets.length * (1 - room) ? <span key={e} style={{ left: `${(100 * i) / buckets.length}%` }}>{tenfold(Math.log10(e), [0])}</span> : null))}
        <span class="last">{tenfold(Math.log10(edges[buckets.length]), [0])}</span>
      </div>
    </figure>
  );
}
