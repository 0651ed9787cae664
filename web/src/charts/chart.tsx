import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import uPlot from "uplot";
import { linear, tenfold, tenfolds, times, timeSteps, type Unit } from "./axis";
import { printed, type Palette } from "./palette";
import { isPrinting, printWidth, usePrinting } from "./printing";
import type { Stretch } from "./series";

/** What the charts of a process have in common: the shown times, the selection, and the collection that is pointed at. */
export interface Span {
  from: number; // microseconds
  to: number;
  selectedFrom: number | null;
  selectedTo: number | null;
}

/** What a chart draws of a stretch of time. */
export interface Drawing {
  data: uPlot.AlignedData;
  /** The largest value, for the scale of the y axis. */
  top: number;
  /** What the legend says of it. */
  note?: string;
}

/** What a chart says of the place that is pointed at. */
export interface Reading {
  title: string;
  rows: { label: string; value: string; colour?: string }[];
}

export interface ChartProps {
  id: string;
  title: string;
  legend: { label: string; colour: string; dashed?: boolean }[];
  control?: JSX.Element; // of the chart, beside the legend
  summary: string; // for those who do not see it
  height: number;
  span: Span;
  palette: Palette;
  /** Changes when the drawing does. */
  version: string;
  draw(from: number, to: number, width: number): Drawing;
  series(palette: Palette): uPlot.Series[];
  /** Where events were lost. */
  lost?: Stretch[];
  bands?: uPlot.Band[];
  units: Unit[];
  /** The power of ten, in microseconds, at which a logarithmic axis begins: what is drawn are the powers above it. */
  floor?: number | null;
  right?: { units: Unit[]; range: [number, number] };
  axis?: boolean; // times below
  overlay?(u: uPlot, span: Span, palette: Palette): void;
  lanes?: string[]; // names of lanes, in place of a y axis
  /** Is called with the place that is pointed at, in CSS pixels; null when there is none. */
  hover?(u: uPlot, place: { left: number; top: number } | null): void;
  /** What the chart says beside the pointer. */
  read?(): Reading | null;
  /** Handles a key before the group does, and reports whether it did. */
  press?(event: KeyboardEvent): boolean;
  /** Changes when what overlay draws does. */
  overlaid?: number;
  group: Group;
}

/** Charts with one time axis, one selection and one cursor. */
export class Group {
  readonly plots = new Set<uPlot>();
  cursor: number | null = null; // microseconds

  constructor(
    readonly select: (from: number | null, to: number | null) => void,
    /** Points at a time; what is drawn at the pointer may be as far from it as it reaches. */
    readonly point: (us: number | null, reach: number) => void,
    readonly open: (us: number, reach: number) => void,
    readonly press: (event: KeyboardEvent) => void,
  ) {}

  /** Shows where the cursor is in all charts. */
  moveTo(us: number | null): void {
    this.cursor = us;
    for (const u of this.plots) this.place(u);
  }

  place(u: uPlot): void {
    const at = this.cursor === null ? -10 : u.valToPos(this.cursor / 1e6, "x");
    u.setCursor({ left: Number.isFinite(at) ? at : -10, top: this.cursor === null ? -10 : u.over.clientHeight / 2 }, false);
  }
}

// Charts draw one after the other, each in a task of its own.
const queue = new Map<object, () => void>();
let running = false;

function later(owner: object, draw: () => void): void {
  queue.set(owner, draw);
  if (running) return;
  running = true;
  const step = () => {
    const next = queue.entries().next();
    if (next.done) {
      running = false;
      return;
    }
    queue.delete(next.value[0]);
    next.value[1]();
    setTimeout(step);
  };
  setTimeout(step);
}

/** On a large screen charts are as much larger as text is. */
export const scale = matchMedia("(min-width: 2560px)").matches ? 1.4 : 1;
const axisFont = `${11 * scale}px system-ui, sans-serif`;
const gutter = 64 * scale; // left of the plot
const margin = matchMedia("(max-width: 620px)").matches ? 52 : 54 * scale; // right of it

export function Chart(props: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const width = useRef(0);
  const [pointer, setPointer] = useState<number | null>(null);
  const [note, setNote] = useState("");
  const reading = pointer === null ? null : (props.read?.() ?? null);

  const refresh = () => {
    const { span, draw } = latest.current;
    const u = plot.current;
    if (!u) return;
    const inner = Math.max(50, u.width - gutter - margin);
    const drawing = draw(span.from, span.to, inner);
    setNote(drawing.note ?? "");
    const nothing = drawing.data.slice(1).every((series) => Array.from(series).every((v) => v == null));
    place.current!.classList.toggle("nothing", nothing);
    u.batch(() => {
      u.setData(drawing.data, false);
      u.setScale("x", { min: span.from / 1e6, max: span.to / 1e6 });
      u.setScale("y", { min: 0, max: drawing.top > 0 ? drawing.top * 1.05 : 1 });
    });
    mark(u, span);
    latest.current.group.place(u);
  };

  const create = () => {
    const { group } = latest.current;
    plot.current?.destroy();
    if (plot.current) group.plots.delete(plot.current);
    if (!place.current || width.current === 0) return;
    const [palette, wide] = isPrinting() ? [printed(), printWidth] : [latest.current.palette, width.current];
    plot.current = new uPlot(options(latest, palette, wide, latest.current.height * scale), undefined, place.current);
    group.plots.add(plot.current);
    listen(plot.current, latest, setPointer);
    refresh();
  };

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const now = Math.floor(entry.contentRect.width);
      if (now === width.current || now === 0 || isPrinting()) return;
      width.current = now;
      later(place, () => {
        if (!plot.current) return create();
        plot.current.setSize({ width: now, height: latest.current.height * scale });
        refresh();
      });
    });
    observer.observe(place.current!);
    return () => {
      observer.disconnect();
      queue.delete(place);
      queue.delete(plot);
      if (plot.current) latest.current.group.plots.delete(plot.current);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  usePrinting(create);

  useEffect(() => {
    if (plot.current) later(plot, create);
  }, [props.palette.key, props.floor == null]);

  useEffect(() => {
    if (plot.current) later(place, refresh);
  }, [props.version, props.span.from, props.span.to]);

  useEffect(() => {
    plot.current?.redraw(false);
  }, [props.overlaid]);

  useEffect(() => {
    if (plot.current) mark(plot.current, props.span);
  }, [props.span.selectedFrom, props.span.selectedTo]);

  return (
    <figure class="chart" id={`chart-${props.id}`} tabIndex={0} role="group" aria-roledescription="chart" aria-label={`${props.title}: ${props.summary}`} onKeyDown={(e) => e.target === e.currentTarget && (props.press?.(e) ? e.preventDefault() : props.group.press(e))}>
      <figcaption>
        <h3>{props.title}</h3>
        <ul class="legend">
          {props.legend.map((l) => (
            <li key={l.label}>
              <i class={l.dashed ? "dashed" : ""} style={{ color: l.colour }} />
              {l.label}
            </li>
          ))}
          {note && <li>{note}</li>}
        </ul>
        {props.control}
      </figcaption>
      <div class="plot" ref={place} style={{ minHeight: `${props.height * scale}px` }} aria-hidden="true" />
      {reading && <Beside reading={reading} left={pointer!} width={width.current} />}
    </figure>
  );
}

/** What is pointed at, beside the pointer: on the side where there is more room. */
function Beside({ reading, left, width }: { reading: Reading; left: number; width: number }): JSX.Element {
  const inner = width - gutter - margin;
  const place = left < inner / 2 ? { left: `${gutter + left + 16}px` } : { right: `${margin + inner - left + 16}px` };
  return (
    <div class="reading" style={place} aria-hidden="true">
      <b>{reading.title}</b>
      {reading.rows.map(({ label, value, colour }) => <p key={label}>{colour && <i style={{ color: colour }} />}<span>{label}</span> {value}</p>)}
    </div>
  );
}

/** Shows the selected times. */
function mark(u: uPlot, span: Span): void {
  if (span.selectedFrom === null && span.selectedTo === null) {
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    return;
  }
  const width = u.over.clientWidth;
  const clamp = (us: number) => Math.min(width, Math.max(0, u.valToPos(us / 1e6, "x")));
  const left = clamp(span.selectedFrom ?? span.from);
  const right = clamp(span.selectedTo ?? span.to);
  u.setSelect({ left, top: 0, width: Math.max(1, right - left), height: u.over.clientHeight }, false);
}

function options(latest: { current: ChartProps }, palette: Palette, width: number, height: number): uPlot.Options {
  const props = latest.current;
  const logarithmic = props.floor != null;
  const lines = { stroke: `${palette.muted}38`, width: 1 }; // also seen where the ground is shaded
  const axis = (extra: uPlot.Axis): uPlot.Axis => ({
    font: axisFont,
    stroke: palette.muted,
    grid: lines,
    ticks: { stroke: palette.line, size: 4, width: 1 },
    ...extra,
  });
  const axes: uPlot.Axis[] = [
    axis({ size: props.axis ? 28 * scale : 6, space: (u) => (u.width < 500 ? 48 : 80 * scale), incrs: timeSteps, values: (_, ticks) => (props.axis ? times(ticks) : ticks.map(() => "")) }),
    axis({
      size: gutter,
      space: 24 * scale, // two lines at least above zero, in the lowest chart
      grid: props.lanes ? { show: false } : lines,
      splits: props.lanes ? () => props.lanes!.map((_, i) => i + 0.5) : logarithmic ? (u, _axis, _least, most) => (latest.current.floor == null ? [] : tenfolds(most, u.bbox.height / devicePixelRatio)) : undefined,
      values: (u, ticks) => props.lanes ?? (empty(u) ? ticks.map(() => "") : logarithmic ? tenfold(latest.current.floor ?? 0, ticks) : linear(props.units, ticks)),
    }),
  ];
  const scales: uPlot.Scales = { x: { time: false }, y: { range: (_u, min, max) => [min ?? 0, max ?? 1] } };
  if (props.right) {
    const { range, units } = props.right;
    scales.right = { range: () => range };
    axes.push(axis({ scale: "right", side: 1, size: margin, grid: { show: false }, values: (_, ticks) => linear(units, ticks) }));
  }
  return {
    width,
    height,
    padding: [8, props.right ? 0 : margin, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    scales,
    axes,
    series: [{}, ...props.series(palette)],
    bands: props.bands,
    hooks: {
      drawClear: [(u) => shade(u, latest.current.lost ?? [], palette)],
      draw: [(u) => latest.current.overlay?.(u, latest.current.span, palette)],
    },
  };
}

/** Reports whether a chart has nothing to show, so that its scale means nothing. */
function empty(u: uPlot): boolean {
  return u.root.parentElement?.classList.contains("nothing") ?? false;
}

/** Shades where events were lost, behind what is drawn. */
function shade(u: uPlot, lost: Stretch[], palette: Palette): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = palette.lost;
  for (const { from, to } of lost) {
    const left = Math.max(bbox.left, u.valToPos(from / 1e6, "x", true));
    const right = Math.min(bbox.left + bbox.width, u.valToPos(to / 1e6, "x", true));
    if (right >= left) ctx.fillRect(left, bbox.top, Math.max(devicePixelRatio, right - left), bbox.height);
  }
  ctx.restore();
}

/** How far from the pointer what is pointed at may be, in CSS pixels. */
const nearby = 3;

/** Selects times by dragging, and points at collections by moving. */
function listen(u: uPlot, latest: { current: ChartProps }, setPointer: (left: number | null) => void): void {
  const over = u.over;
  const reach = () => ((latest.current.span.to - latest.current.span.from) / Math.max(1, over.clientWidth)) * nearby;
  let begun: number | null = null;
  let dragging = false;
  const at = (event: PointerEvent) => {
    const { span } = latest.current;
    const box = over.getBoundingClientRect();
    const us = u.posToVal(Math.min(box.width, Math.max(0, event.clientX - box.left)), "x") * 1e6;
    return Math.min(span.to, Math.max(span.from, us));
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    begun = event.clientX;
    dragging = false;
    over.dataset.begin = String(at(event));
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => {
    const { group } = latest.current;
    const us = at(event);
    group.point(us, reach());
    const box = over.getBoundingClientRect();
    setPointer(event.clientX - box.left);
    latest.current.hover?.(u, { left: event.clientX - box.left, top: event.clientY - box.top });
    if (begun === null) return;
    dragging ||= Math.abs(event.clientX - begun) > 4;
    if (!dragging) return;
    const from = Math.min(us, Number(over.dataset.begin));
    const to = Math.max(us, Number(over.dataset.begin));
    for (const plot of group.plots) mark(plot, { ...latest.current.span, selectedFrom: from, selectedTo: to });
  });
  over.addEventListener("pointerup", (event) => {
    if (begun === null) return;
    const { group } = latest.current;
    const us = at(event);
    begun = null;
    if (!dragging) return group.open(us, reach());
    const start = Number(over.dataset.begin);
    group.select(Math.floor(Math.min(us, start)), Math.ceil(Math.max(us, start)));
  });
  over.addEventListener("pointercancel", () => {
    begun = null;
    mark(u, latest.current.span);
  });
  let turned = 0;
  over.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    turned += event.deltaY;
    if (Math.abs(turned) < 50) return; // touch pads turn by little, often
    latest.current.group.press(new KeyboardEvent("keydown", { key: turned < 0 ? "w" : "s" }));
    turned = 0;
  }, { passive: false });
  over.addEventListener("pointerleave", () => {
    if (begun === null) latest.current.group.point(null, 0);
    setPointer(null);
    latest.current.hover?.(u, null);
  });
}

/** Draws all points as bars from zero, at least as wide as can be seen: the tall ones first, which would hide others, after those of the series that are behind. */
export function drawBars(u: uPlot, colours: string[], behind = 0): void {
  const { ctx, bbox } = u;
  const [xs, ...series] = u.data;
  const zero = u.valToPos(0, "y", true);
  const width = Math.max(devicePixelRatio, Math.min(6 * devicePixelRatio, (0.5 * bbox.width) / Math.max(1, xs.length)));
  const bars: { s: number; x: number; y: number }[] = [];
  series.forEach((ys, s) => {
    for (let i = 0; i < xs.length; i++) {
      const y = ys[i];
      if (y != null) bars.push({ s, x: xs[i], y });
    }
  });
  bars.sort((a, b) => Number(a.s >= behind) - Number(b.s >= behind) || b.y - a.y);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { s, x, y } of bars) {
    const top = u.valToPos(y, "y", true);
    ctx.fillStyle = colours[s];
    ctx.fillRect(u.valToPos(x, "x", true) - width / 2, top, width, Math.max(devicePixelRatio, zero - top));
  }
  ctx.restore();
}

/** A series that an overlay draws. */
export const overlaid: uPlot.Series = { paths: () => null, points: { show: false } };
