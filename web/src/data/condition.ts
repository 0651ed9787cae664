// Conditions on a collection, in the grammar of gctrail collect --until: package
// internal/condition reads the same.

import type { Words } from "./header";
import type { Process } from "./process";

/** Whether the collection in a row meets a condition. */
export type Test = (row: number) => boolean;

export class ConditionError extends Error {}

type Figure = { name: string; meaning: string; example: string } & ({ dimension: Dimension; of: (p: Process) => (row: number) => number } | { words: (w: Words) => string[]; column: string });

interface Dimension {
  is: string;
  example: string;
  units: Record<string, number>;
  bare?: boolean;
  below?: number;
}

const times: Dimension = {
  is: "a time",
  example: "200ms or 1.5s",
  units: { ns: 1e-3, us: 1, µs: 1, ms: 1e3, s: 1e6, m: 60e6, min: 60e6, h: 3600e6 },
};
const sizeUnits = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };
const sizes: Dimension = { is: "a size", example: "10MB or 1.5GiB", units: sizeUnits };
const rates: Dimension = {
  is: "a size per second",
  example: "100MB/s",
  units: { "b/s": 1, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2 ** 10, "mib/s": 2 ** 20, "gib/s": 2 ** 30 },
};
const shares: Dimension = { is: "a percentage", example: "90%", units: { "%": 1 }, bare: true };
const generations: Dimension = { is: "a generation", example: "0, 1 or 2", units: {}, bare: true, below: 3 };
const counts: Dimension = { is: "a number", example: "2", units: {}, bare: true };

const column = (name: string) => (p: Process) => {
  const values = p.get(name);
  return (row: number) => values[row];
};

/** Bytes a second of the time that threads could run. */
export function rateOf(p: Process): (row: number) => number {
  const allocated = p.get("allocated_bytes");
  const since = p.get("since_last_us");
  return (row) => (since[row] > 0 ? (allocated[row] / since[row]) * 1e6 : NaN);
}

export const figures: Figure[] = [
  { name: "pause", meaning: "how long threads were paused", example: "200ms", dimension: times, of: column("pause_us") },
  { name: "suspend", meaning: "time until all threads were suspended", example: "50ms", dimension: times, of: column("suspend_us") },
  { name: "duration", meaning: "time from start to end", example: "1.5s", dimension: times, of: column("duration_us") },
  { name: "gen", meaning: "the collected generation", example: "0, 1, 2", dimension: generations, of: column("generation") },
  { name: "kind", meaning: "blocking, background or foreground", example: "background", words: (w) => w.kinds.slice(1), column: "kind" },
  { name: "reason", meaning: "why it started", example: "Induced", words: (w) => Object.values(w.reasons), column: "reason" },
  { name: "number", meaning: "the runtime's number of the collection", example: "1000", dimension: counts, of: column("number") },
  { name: "heap", meaning: "heap size after", example: "1.5GB", dimension: sizes, of: column("heap_after_bytes") },
  { name: "before", meaning: "heap size before", example: "2GB", dimension: sizes, of: column("heap_before_bytes") },
  { name: "freed", meaning: "bytes freed", example: "10MB", dimension: sizes, of: column("freed_bytes") },
  { name: "promoted", meaning: "bytes that survived", example: "100MB", dimension: sizes, of: column("promoted_bytes") },
  { name: "committed", meaning: "committed memory after", example: "3GB", dimension: sizes, of: column("committed_after_bytes") },
  { name: "allocated", meaning: "allocated since the previous collection", example: "500MB", dimension: sizes, of: column("allocated_bytes") },
  { name: "rate", meaning: "allocation rate since then", example: "100MB/s", dimension: rates, of: rateOf },
  { name: "load", meaning: "memory load of the machine or container", example: "90%", dimension: shares, of: column("memory_load_pct") },
  { name: "pinned", meaning: "pinned objects found", example: "1000", dimension: counts, of: column("pinned_objects") },
];

interface Token {
  kind: "end" | "word" | "operator" | "(" | ")" | "other";
  text: string;
  at: number;
}

const compare: Record<string, (a: number, b: number) => boolean> = {
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

const maxDepth = 100;

class Parser {
  private at = 0;
  private token: Token = { kind: "end", text: "", at: 0 };

  constructor(
    private readonly text: string,
    private readonly process: Process,
  ) {
    this.next();
  }

  whole(): Test {
    const test = this.either(0);
    if (this.token.kind !== "end") throw this.wrong(`${this.shown()} where and, or or the end of the condition is expected`);
    return test;
  }

  private wrong(what: string, at = this.token.at): ConditionError {
    return new ConditionError(`${what}, at character ${[...this.text.slice(0, at)].length + 1}`);
  }

  private shown(token = this.token): string {
    return token.kind === "end" ? "the end" : JSON.stringify(token.text);
  }

  private is(word: string): boolean {
    return this.token.kind === "word" && this.token.text.toLowerCase() === word;
  }

  private next(): void {
    while (" \t\r\n".includes(this.text[this.at] ?? "x")) this.at++;
    const rest = this.text.slice(this.at);
    const at = this.at;
    const found = (kind: Token["kind"], text: string) => {
      this.token = { kind, text, at };
      this.at += text.length;
    };
    if (rest === "") return found("end", "");
    const word = /^[A-Za-z0-9._%/+\-µμ]+/.exec(rest);
    if (word) return found("word", word[0]);
    if (rest[0] === "(" || rest[0] === ")") return found(rest[0], rest[0]);
    const operator = /^(>=|<=|!=|==|>|<|=)/.exec(rest);
    if (operator) return found("operator", operator[0]);
    found("other", String.fromCodePoint(rest.codePointAt(0)!));
  }

  private either(depth: number): Test {
    const parts = [this.both(depth)];
    while (this.is("or")) {
      this.next();
      parts.push(this.both(depth));
    }
    return parts.length === 1 ? parts[0] : (row) => parts.some((part) => part(row));
  }

  private both(depth: number): Test {
    const parts = [this.single(depth)];
    while (this.is("and")) {
      this.next();
      parts.push(this.single(depth));
    }
    return parts.length === 1 ? parts[0] : (row) => parts.every((part) => part(row));
  }

  private single(depth: number): Test {
    if (this.token.kind !== "(") return this.comparison();
    if (depth === maxDepth) throw this.wrong(`more than ${maxDepth} nested parentheses`);
    this.next();
    const inner = this.either(depth + 1);
    if ((this.token.kind as string) !== ")") throw this.wrong(`${this.shown()} where and, or or ")" is expected`);
    this.next();
    return inner;
  }

  private comparison(): Test {
    const names = figures.map((f) => f.name).join(", ");
    if (this.token.kind !== "word") throw this.wrong(`${this.shown()} where a figure is expected: one of ${names}`);
    const figure = figures.find((f) => this.is(f.name));
    if (!figure) throw this.wrong(`unknown figure ${this.shown()}; valid figures: ${names}`);
    this.next();
    if ((this.token.kind as string) !== "operator") throw this.wrong(`${this.shown()} where one of > >= < <= = != is expected`);
    const operator = this.token.text;
    if ("words" in figure) {
      if (!["=", "==", "!="].includes(operator)) throw this.wrong(`${figure.name} is a word: compare it with = or !=`);
      this.next();
      return this.word(figure.name, figure.words(this.process.head.words), figure.column, operator !== "!=");
    }
    this.next();
    const value = this.amount(figure.name, figure.dimension);
    const of = figure.of(this.process);
    const holds = compare[operator];
    return (row) => {
      const v = of(row);
      return !Number.isNaN(v) && holds(v, value);
    };
  }

  private word(name: string, words: string[], from: string, equal: boolean): Test {
    const i = words.findIndex((word) => this.is(word.toLowerCase()));
    if (i < 0) throw this.wrong(`unknown ${name} ${this.shown()}; valid values: ${words.join(", ")}`);
    const all = this.process.head.words;
    const code = name === "kind" ? all.kinds.indexOf(words[i]) : Number(Object.keys(all.reasons).find((key) => all.reasons[key] === words[i]));
    const values = this.process.get(from);
    this.next();
    return (row) => !Number.isNaN(values[row]) && (values[row] === code) === equal;
  }

  /** Reads a number with its unit, which may stand apart. */
  private amount(name: string, dimension: Dimension): number {
    const first = this.token;
    this.next();
    if (this.token.kind === "word" && /\d$/.test(first.text)) {
      const value = parseAmount(first.text + this.token.text, dimension);
      if (value !== null) {
        this.next();
        return value;
      }
    }
    const value = parseAmount(first.text, dimension);
    if (value === null) throw this.wrong(`${name} is ${dimension.is}, as in ${dimension.example}, and not ${this.shown(first)}`, first.at);
    return value;
  }
}

function parseAmount(s: string, d: Dimension): number | null {
  const parts = /^(\d+\.?\d*|\.\d+)([A-Za-zµμ%/]*)$/.exec(s);
  if (!parts) return null;
  const value = Number(parts[1]);
  const unit = parts[2].replace("μ", "µ").toLowerCase();
  if (unit === "") return (d.bare || value === 0) && (d.below === undefined || value < d.below) ? value : null;
  const size = d.units[unit];
  return size === undefined ? null : value * size;
}

/** Reads a condition; throws a ConditionError. An empty one holds for all. */
export function parse(text: string, process: Process): Test {
  return text.trim() === "" ? () => true : new Parser(text, process).whole();
}

/** A time in a condition, without rounding. */
export function written(us: number): string {
  return us >= 1000 ? `${us / 1000}ms` : `${us}us`;
}
