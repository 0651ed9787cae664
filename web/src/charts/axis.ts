// Labels of axes. All of one axis have the same unit, and exactly the decimals that the step
// between them needs: figures in text are rounded to three digits instead.

import { count, significant, unknown } from "../units";

/** A unit, how much it is, and the largest label from which an axis is in it. */
export type Unit = [name: string, size: number, from: number];

export const sizes: Unit[] = [["B", 1, 0], ["kB", 1e3, 1e3], ["MB", 1e6, 1e6], ["GB", 1e9, 1e9], ["TB", 1e12, 1e12]];
export const rates: Unit[] = sizes.map(([name, ...rest]) => [`${name}/s`, ...rest]);
export const durations: Unit[] = [["µs", 1, 0], ["ms", 1e3, 100], ["s", 1e6, 1e6]];
export const shares: Unit[] = [["%", 1, 0]];

const unitOf = (units: Unit[], most: number) => units.findLast(([, , from]) => most >= from)!;

/** The units that figures of one column are written in: in larger ones, the small figures would have too few digits. */
export const columnUnits = { time: durations.slice(0, 2), size: sizes.slice(0, 3), rate: rates.slice(0, 3) };

/** Writes figures of one column, all in the unit of the largest, so that they compare by eye. */
export function alike(units: Unit[], values: ArrayLike<number>): (v: number) => string {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (Math.abs(values[i]) > most) most = Math.abs(values[i]);
  const [unit, size] = unitOf(units, most);
  return (v) => (Number.isNaN(v) ? unknown : `${size === 1 ? count(v) : significant(v / size)} ${unit}`);
}

/** Labels of a linear axis. */
export function linear(units: Unit[], ticks: number[]): string[] {
  const [unit, size] = unitOf(units, Math.max(...ticks));
  const decimals = decimalsOf((ticks.length > 1 ? ticks[1] - ticks[0] : ticks[0]) / size);
  return ticks.map((v) => (v === 0 ? "0" : `${(v / size).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })} ${unit}`));
}

/** Labels of a logarithmic axis, whose places are powers of ten above a floor in microseconds: each has the unit that fits. */
export function tenfold(floor: number, places: number[]): string[] {
  return places.map((place) => {
    const us = Number((10 ** (place + floor)).toPrecision(3));
    const [unit, size] = unitOf(durations, us);
    return `${Number((us / size).toPrecision(3))} ${unit}`;
  });
}

/** Where a logarithmic axis has ticks: at powers of ten, and at twice and five times them where there is room. */
export function tenfolds(most: number, height: number): number[] {
  const steps = height > 85 * most ? [1, 2, 5] : [1];
  const places: number[] = [];
  for (let power = 0; power <= most; power++) for (const step of steps) places.push(power + Math.log10(step));
  return places.filter((place) => place <= most);
}

/** How many decimals show multiples of a step exactly. */
function decimalsOf(step: number): number {
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals++;
  return decimals;
}

/** Between ticks of the time axis, in seconds: decimal below 10 s, then as clocks divide. */
export const timeSteps = [
  ...[-6, -5, -4, -3, -2, -1, 0].flatMap((e) => [1, 2, 5].map((n) => Number(`${n}e${e}`))),
  ...[10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => 60 * minutes),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 240, 480, 960, 2400].map((hours) => 3600 * hours),
];

/** Times below the axis, all in the largest unit that shows the step between them exactly. */
export function times(ticks: number[]): string[] {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const [unit, length] = step % 3600 === 0 ? ["h", 3600] : step % 60 === 0 ? ["min", 60] : ["s", 1];
  const decimals = decimalsOf(step);
  return ticks.map((s) => `${(s / length).toFixed(decimals)} ${unit}`);
}
