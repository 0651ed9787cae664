import { unrolled } from "./details";
import type { Header, ProcessHeader, TraceHeader } from "./header";
import type { Process as ProcessReport } from "./report";
import { lowerBound } from "./order";
import { breathe } from "./pause";

/** The collections that findings quote, by rule, as runs. */
export type Quoted = Record<string, number[]>;

/** The collections of a process as columns; NaN is unknown. */
export class Process {
  /** What the findings quote. */
  quoted: () => Promise<Quoted | null> = async () => null;
  readonly columns = new Map<string, Float64Array>();
  rows = 0;
  /** When each collection began, in microseconds; never decreases. */
  time = new Float64Array(0);
  /** Grows when collections are added. */
  version = 0;
  private capacity = 0;

  constructor(
    readonly head: Header,
    readonly trace: TraceHeader,
    public header: ProcessHeader,
    public report: ProcessReport | null,
    readonly index: number,
  ) {}

  get(name: string): Float64Array {
    const column = this.columns.get(name);
    if (!column) throw new Error(`no column ${name}`);
    return column;
  }

  /** Reads the columns from data at a position, and returns where they end. */
  async decode(data: Uint8Array, at: number): Promise<number> {
    const n = (this.rows = this.capacity = this.header.rows);
    const columns = this.head.columns.map((c) => {
      const values = new Float64Array(n);
      this.columns.set(c.name, values);
      return values;
    });
    const from = this.head.columns.map((c) => c.from);
    const places = this.header.lengths.map((length) => (at += length) - length);
    // The figures of a collection and of the one before; 0 where unknown.
    let now = new Float64Array(columns.length);
    let last = new Float64Array(columns.length);
    for (let row = 0; row < n; row++) {
      for (let c = 0; c < columns.length; c++) {
        let code = 0;
        let scale = 1;
        let byte: number;
        do {
          byte = data[places[c]++];
          code += (byte & 127) * scale;
          scale *= 128;
        } while (byte > 127);
        if (code === 0) {
          now[c] = 0;
          columns[c][row] = NaN;
          continue;
        }
        code--;
        let value = code % 2 === 1 ? -(code + 1) / 2 : code / 2;
        for (const [column, back, sign] of from[c]) value += sign * (back === 0 ? now : last)[column];
        now[c] = columns[c][row] = value;
      }
      [now, last] = [last, now];
      if ((row & 255) === 255) await breathe();
    }
    this.time = new Float64Array(n);
    for (let row = 0; row < n; row++) this.setTime(row);
    this.version++;
    return at;
  }

  /** Adds collections that a server sent. */
  append(rows: (number | null)[][]): void {
    this.reserve(this.rows + rows.length);
    const names = this.head.columns;
    for (const row of rows) {
      for (let c = 0; c < names.length; c++) this.get(names[c].name)[this.rows] = row[c] ?? NaN;
      this.setTime(this.rows);
      this.rows++;
    }
    this.version++;
  }

  private reserve(rows: number): void {
    if (rows <= this.capacity && this.columns.size > 0) return;
    this.capacity = Math.max(256, rows * 2);
    const grown = (old: Float64Array | undefined) => {
      const values = new Float64Array(this.capacity);
      if (old) values.set(old.subarray(0, this.rows));
      return values;
    };
    for (const c of this.head.columns) this.columns.set(c.name, grown(this.columns.get(c.name)));
    this.time = grown(this.time);
  }

  private setTime(row: number): void {
    const before = row > 0 ? this.time[row - 1] : 0;
    let at = this.get("pause_start_us")[row];
    if (Number.isNaN(at)) at = this.get("start_us")[row];
    this.time[row] = at >= before ? at : before;
  }

  /** The first row at a time or later. */
  rowAt(us: number): number {
    return lowerBound(this.time, us, this.rows);
  }

  /** The row of a collection's number, -1 where there is none. */
  rowOf(number: number): number {
    return this.get("number").subarray(0, this.rows).indexOf(number);
  }

  /** The numbers of the collections that a finding quotes. */
  async quotedBy(rule: string): Promise<Set<number>> {
    return new Set(unrolled((await this.quoted())?.[rule] ?? []));
  }

  /** Up to when the process was watched, in microseconds. */
  get end(): number {
    const last = this.rows > 0 ? this.time[this.rows - 1] : 0;
    return Math.max(this.header.stopped_us || this.trace.last_us, last, 1);
  }

  get title(): string {
    const { name, pid } = this.header;
    if (pid === null) return name || "unknown process";
    return name === "" ? `pid ${pid}` : `${name} (pid ${pid})`;
  }
}
