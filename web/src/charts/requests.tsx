import type { JSX } from "preact";
import type uPlot from "uplot";
import { Requests } from "../data/requests";
import type { Process } from "../data/process";
import { useLoaded, type Store } from "../state/store";
import { count, duration, moment, percent, plural } from "../units";
import { lowerBound } from "./series";
import type { Drawing, Reading, Span } from "./chart";
import { variables, type Palette } from "./palette";

/** How much of a request's time pauses took, as gc/request has it. */
export const shares = [
  { from: 0, label: "paused for less than 10 %", of: (c: Palette) => c.muted },
  { from: 0.1, label: "10 to 50 %", of: (c: Palette) => c.gen1 },
  { from: 0.5, label: "50 % and more", of: (c: Palette) => c.gen2 },
];

function colourOf(share: number, palette: Palette): string {
  return shares.findLast((s) => share >= s.from)!.of(palette);
}

/** The requests of a process, null where there are none, or until they are read. */
export function useRequests(store: Store, p: Process | null): Requests | null {
  return useLoaded(() => p?.header.requests && store.data.requests(p).then((data) => data && new Requests(data)), [p]);
}

/** The scale of the requests' chart. */
export function scaleRequests(r: Requests, from: number, to: number): Drawing {
  const most = Math.max(1, ...r.data.cells.map((cell) => r.bottom(cell[1] + 1)), ...Array.from({ length: r.length }, (_, i) => r.height(i)));
  return { data: [[from / 1e6, to / 1e6], [0, most]], top: most };
}

const radius = 2.5;

/** Draws cells as squares, darker where there are more requests, and dots above them: the fast ones first. */
export function drawRequests(u: uPlot, span: Span, r: Requests, palette: Palette, pointed: number): void {
  const { ctx } = u;
  const { cells, cell_us } = r.data;
  const x = (us: number) => u.valToPos(us / 1e6, "x", true);
  const y = (v: number) => u.valToPos(v, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  for (const [time, took, count, thousandths] of cells) {
    if ((time + 1) * cell_us < span.from || time * cell_us > span.to) continue;
    const [left, top] = [x(time * cell_us), y(r.bottom(took + 1))];
    ctx.globalAlpha = Math.min(0.8, 0.2 + 0.15 * Math.log10(count));
    ctx.fillStyle = colourOf(thousandths / 1000, palette);
    ctx.fillRect(left, top, Math.max(devicePixelRatio, x((time + 1) * cell_us) - left), Math.max(devicePixelRatio, y(r.bottom(took)) - top));
  }
  ctx.globalAlpha = 0.85;
  for (let k = r.length - 1; k >= 0; k--) {
    const i = r.slowest[k];
    if (r.start[i] < span.from || r.start[i] > span.to) continue;
    dot(r, i, radius, x, y, ctx, palette);
  }
  ctx.globalAlpha = 1;
  if (pointed >= 0) {
    dot(r, pointed, 2 * radius, x, y, ctx, palette);
    ctx.strokeStyle = palette.text;
    ctx.lineWidth = devicePixelRatio;
    ctx.stroke();
  }
  ctx.restore();
}

function dot(r: Requests, i: number, size: number, x: (us: number) => number, y: (v: number) => number, ctx: CanvasRenderingContext2D, palette: Palette): void {
  ctx.fillStyle = colourOf(r.share(i), palette);
  ctx.beginPath();
  ctx.arc(x(r.start[i]), y(r.height(i)), size * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
}

/** The dot next to a place of the chart, -1 where none is near. */
export function nearestRequest(u: uPlot, r: Requests, left: number, top: number): number {
  const reach = 24;
  const first = lowerBound(r.start, u.posToVal(left - reach, "x") * 1e6);
  const last = lowerBound(r.start, u.posToVal(left + reach, "x") * 1e6);
  let nearest = -1;
  let least = reach;
  for (let i = first; i < last; i++) {
    const far = Math.hypot(u.valToPos(r.start[i] / 1e6, "x") - left, u.valToPos(r.height(i), "y") - top);
    if (far < least || (far === least && r.took(i) > r.took(nearest))) [nearest, least] = [i, far];
  }
  return nearest;
}

/** The dot that a key leads to: left and right in time, up and down by duration; undefined for other keys. */
export function nextRequest(r: Requests, key: string, here: number): number | undefined {
  const within = (i: number) => Math.min(r.length - 1, Math.max(0, i));
  const rank = here < 0 ? -1 : r.slowest.indexOf(here);
  switch (key) {
    case "ArrowRight": return within(here + 1);
    case "ArrowLeft": return within(here - 1);
    case "ArrowUp": return r.slowest[within(rank - 1)];
    case "ArrowDown": return r.slowest[within(rank + 1)];
    case "Home": return r.slowest[0];
    case "End": return r.slowest[r.length - 1];
    default: return undefined;
  }
}

/** A request in words. */
export function RequestWords({ r, i }: { r: Requests; i: number }): JSX.Element {
  const words = [duration(r.took(i)), `paused ${duration(r.paused(i))} (${percent(100 * r.share(i))})`, ...(r.trace(i) ? [`trace ${r.trace(i)}`] : [])];
  return <><b>{moment(r.start[i])}</b> {r.label(i)} · {words.join(" · ")}</>;
}

/** A request beside the pointer. */
export function requestReading(r: Requests, i: number): Reading {
  const share = r.share(i);
  const at = shares.findLast((s) => share >= s.from)!;
  return { title: r.label(i), rows: [{ label: "took", value: duration(r.took(i)) }, { label: "paused", value: `${duration(r.paused(i))} (${percent(100 * share)})`, colour: at.of(variables) }] };
}

/** The requests' figures in words. */
export function requestsSummary(r: Requests): string {
  const { requests, p50_us, p99_us, p99_running_us, slowest, unended, left_out } = r.data;
  const said = [
    `${plural(requests, "request")}: p50 ${duration(p50_us)}, p99 ${duration(p99_us)} (${duration(p99_running_us)} without pauses)`,
    ...(slowest.requests > 0 ? [`pauses took ${percent(slowest.paused_pct)} of the time of the slowest 1 %`] : []),
    ...(r.folded > 0 ? [`dots are the ${plural(r.length, "slowest one", "slowest ones")}, squares count the others`] : []),
    ...(unended > 0 ? [`${count(unended)} more had not ended`] : []),
    ...(left_out > 0 ? [`there was no room for ${plural(left_out, "span")}`] : []),
  ];
  return said.join("; ");
}
