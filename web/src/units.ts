// Figures for people, as internal/units writes them: at most three significant
// digits, in a unit that fits.

const rounded = 0.9995;

function fixed(v: number, decimals: number): string {
  const [whole, rest] = v.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest ? `${grouped}.${rest}` : grouped;
}

export function significant(v: number): string {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a < 0.0005) return "<0.001";
  if (a < 0.9995) return fixed(v, 3);
  if (a < 9.995) return fixed(v, 2);
  if (a < 99.95) return fixed(v, 1);
  const digits = 10 ** (Math.floor(Math.log10(a)) - 2);
  return fixed(Math.round(v / digits) * digits, 0);
}

/** Stands for a figure that is not known, as on every screen of gctrail. */
export const unknown = "-";

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined || Number.isNaN(n)) return unknown;
  const a = Math.abs(n);
  if (a >= 1e9 * rounded) return `${significant(n / 1e9)} GB`;
  if (a >= 1e6 * rounded) return `${significant(n / 1e6)} MB`;
  if (a >= 1e3 * rounded) return `${significant(n / 1e3)} kB`;
  return `${Math.round(n)} B`;
}

export function rate(perSecond: number): string {
  return Number.isFinite(perSecond) ? `${bytes(perSecond)}/s` : unknown;
}

/** A duration in microseconds. */
export function duration(us: number | null | undefined): string {
  if (us === null || us === undefined || Number.isNaN(us)) return unknown;
  const a = Math.abs(us);
  if (a >= 100e6) return long(us);
  if (a >= 1e6 * rounded) return `${significant(us / 1e6)} s`;
  if (a !== 0 && a < 99.95) return `${Number.isInteger(us) ? us : significant(us)} µs`;
  return `${significant(us / 1e3)} ms`;
}

function long(us: number): string {
  const s = Math.round(us / 1e6);
  const h = Math.floor(s / 3600);
  const m = Math.floor(s / 60) % 60;
  return (h > 0 ? `${h}h${m}m` : `${m}m`) + `${s % 60}s`;
}

/** A point of time after the trace's start, to the millisecond or with more decimals of a second. */
export function moment(us: number, decimals = 3): string {
  if (Number.isNaN(us)) return unknown;
  if (us < 100e6) return `${(us / 1e6).toFixed(decimals)} s`;
  const part = String(Math.floor(us) % 1e6).padStart(6, "0");
  return `${long(Math.floor(us / 1e6) * 1e6)} ${part.slice(0, 3)}${decimals > 3 ? `.${part.slice(3, decimals)}` : ""}ms`;
}

export function count(n: number | null | undefined): string {
  return n === null || n === undefined || Number.isNaN(n) ? unknown : fixed(n, 0);
}

export function percent(p: number | null | undefined): string {
  if (p === null || p === undefined || Number.isNaN(p)) return unknown;
  if (p > 0 && p < 0.05) return "<0.1 %";
  return `${p === 0 || p >= 99.95 ? fixed(p, 0) : fixed(p, 1)} %`;
}

export function plural(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
