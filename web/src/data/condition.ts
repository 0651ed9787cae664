// Conditions on a collection, in the grammar of gctrail collect --until: package
// internal/selection reads the same, but for percentiles, which are of a trace that has ended.

import type { Words } from "./header";
import type { Process } from "./process";
import { words as figures, type Word } from "./words";

/** Whether the collection in a row meets a condition. */
export type Test = (row: number) => boolean;

export class ConditionError extends Error {}

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

/** The smallest value that at least a share of all do not exceed: the nearest rank, as in gc/stats. */
export function percentile(sorted: Float64Array, p: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];
}

/** The words that a figure can be. */
function choices(figure: Word, all: Words): string[] {
  return figure.name === "kind" ? all.kinds.slice(1) : Object.values(all.reasons);
}

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
    const parts = this.joined("or", () => this.both(depth));
    return parts.length === 1 ? parts[0] : (row) => parts.some((part) => part(row));
  }

  private both(depth: number): Test {
    const parts = this.joined("and", () => this.single(depth));
    return parts.length === 1 ? parts[0] : (row) => parts.every((part) => part(row));
  }

  /** Reads one part or more, with a word between them. */
  private joined(word: string, part: () => Test): Test[] {
    const parts = [part()];
    while (this.is(word)) {
      this.next();
      parts.push(part());
    }
    return parts;
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
    const all = this.process.head.words;
    if (!figure.dimension) {
      if (!["=", "==", "!="].includes(operator)) throw this.wrong(`${figure.name} is a word: compare it with = or !=`);
      this.next();
      return this.word(figure.name, choices(figure, all), figure.column!, operator !== "!=");
    }
    this.next();
    const of = (figure.column ? column(figure.column) : rateOf)(this.process);
    const value = this.percentile(of) ?? this.amount(figure);
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

  /** Reads a percentile, such as p99, of all collections; null where there is none. */
  private percentile(of: (row: number) => number): number | null {
    const share = /^p(\d{1,2}(?:\.\d+)?)$/i.exec(this.token.text);
    if (!share) return null;
    this.next();
    const known = Float64Array.from({ length: this.process.rows }, (_, row) => of(row)).filter((v) => !Number.isNaN(v)).sort();
    return percentile(known, Number(share[1]));
  }

  /** Reads a number with its unit, which may stand apart. */
  private amount(figure: Word): number {
    const first = this.token;
    this.next();
    if (this.token.kind === "word" && /\d$/.test(first.text)) {
      const value = parseAmount(first.text + this.token.text, figure);
      if (value !== null) {
        this.next();
        return value;
      }
    }
    const value = parseAmount(first.text, figure);
    if (value === null) throw this.wrong(`${figure.name} is ${figure.dimension!.is}, as in ${figure.dimension!.example}, and not ${this.shown(first)}`, first.at);
    return value;
  }
}

function parseAmount(s: string, figure: Word): number | null {
  const d = figure.dimension!;
  const parts = /^(\d+\.?\d*|\.\d+)([A-Za-zµμ%/]*)$/.exec(s);
  if (!parts) return null;
  const value = Number(parts[1]);
  const unit = parts[2].replace("μ", "µ").toLowerCase();
  if (unit === "") return (d.bare || value === 0) && (figure.below === 0 || value < figure.below) ? value : null;
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
