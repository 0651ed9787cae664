import type { Requests as Data } from "./header";

/** Requests of a process: dots, by their start, and cells that count further ones. */
export class Requests {
  readonly start: Float64Array; // microseconds
  /** Dots, the slowest first. */
  readonly slowest: Uint32Array;
  /** The largest power of ten, in microseconds, that no request took less than. */
  readonly floor: number;
  readonly length: number; // of dots, which are by their start

  constructor(readonly data: Data) {
    const { dots } = data;
    this.length = dots.start_us.length;
    this.start = new Float64Array(this.length);
    let at = 0;
    dots.start_us.forEach((later, i) => (this.start[i] = at += later));
    const least = Math.min(...data.cells.map((cell) => cell[1] / data.cells_per_tenfold), ...dots.duration_us.map(power));
    this.floor = Number.isFinite(least) ? Math.floor(least) : 0;
    this.slowest = Uint32Array.from({ length: this.length }, (_, i) => i).sort((a, b) => dots.duration_us[b] - dots.duration_us[a] || a - b);
  }

  took(i: number): number {
    return this.data.dots.duration_us[i];
  }

  paused(i: number): number {
    return this.data.dots.gc_paused_us[i];
  }

  /** Where a request lies on the axis: tenfold durations are 1 apart, and the floor is 0. */
  height(i: number): number {
    return power(this.took(i)) - this.floor;
  }

  /** Where a cell begins on the axis. */
  bottom(index: number): number {
    return index / this.data.cells_per_tenfold - this.floor;
  }

  /** The part of a request's time that pauses took, from 0 to 1. */
  share(i: number): number {
    return this.took(i) > 0 ? this.paused(i) / this.took(i) : 0;
  }

  label(i: number): string {
    return this.data.labels[this.data.dots.label[i]] ?? "(others)";
  }

  /** The id of its trace, empty where it is not known. */
  trace(i: number): string {
    const id = this.data.dots.trace_ids.slice(32 * i, 32 * i + 32);
    return /^0*$/.test(id) ? "" : id;
  }

  /** How many requests are counted in cells. */
  get folded(): number {
    return this.data.cells.reduce((sum, cell) => sum + cell[2], 0);
  }
}

/** The power of ten of a duration, 0 for a microsecond or less. */
function power(us: number): number {
  return us > 1 ? Math.log10(us) : 0;
}
