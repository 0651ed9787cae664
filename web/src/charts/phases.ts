import type uPlot from "uplot";
import type { Process } from "../data/process";
import { count, plural } from "../units";
import type { Span } from "./chart";
import { tint, variables, type Palette } from "./palette";
import type { Prepared } from "./series";

/** The colours of phases: those in which the program's threads are paused are the darkest. */
const phaseColours: Record<string, { label: string; of: (c: Palette) => string; pause: boolean }> = {
  initial_mark: { label: "initial mark (pause)", of: (c) => c.gen2, pause: true },
  concurrent_mark: { label: "concurrent mark", of: (c) => c.background, pause: false },
  final_mark: { label: "final mark (pause)", of: (c) => c.gen2, pause: true },
  sweep: { label: "sweep", of: (c) => c.gen1, pause: false },
};

/** How many background collections there are, and of how many the page has phases. */
export function phasesSummary(p: Process, all: number): string {
  const some = p.header.phases.length;
  const their = all === 1 ? "its" : "their";
  if (some === 0) return `${plural(all, "background GC")}; ${their} phases were not recorded`;
  return some >= all ? `${plural(all, "background GC")} with ${their} phases` : `${plural(all, "background GC")}, ${count(some)} of them with their phases; the others as pauses and concurrent work`;
}

/** The colours of the phases that the trace has. */
export function phaseLegend(p: Process) {
  if (p.header.phases.length === 0) {
    return [
      { label: "pause", colour: variables.gen2 },
      { label: "concurrent", colour: variables.background },
    ];
  }
  return ["initial_mark", "concurrent_mark", "sweep"].map((name) => ({ label: name === "initial_mark" ? "initial and final mark (pauses)" : phaseColours[name].label, colour: phaseColours[name].of(variables) }));
}

/** Draws each background collection as a bar, with its pauses, and its phases where they were recorded. */
export function drawPhases(u: uPlot, span: Span, prepared: Prepared, palette: Palette): void {
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
  for (const pauses of [false, true]) {
    for (const [phase, from, took] of p.header.phases.flatMap((collection) => collection.parts)) {
      const known = phaseColours[p.head.words.phases[phase]];
      if (known?.pause === pauses) bar(from, took, known.of(palette));
    }
  }
  ctx.restore();
}
