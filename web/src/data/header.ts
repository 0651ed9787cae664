// What a page is given; internal/html/header.go writes it.

import type { DetailsHeader } from "./details";

export interface Header {
  version: number;
  program: string;
  columns: { name: string; from: [number, number, number][] }[];
  details: DetailsHeader;
  words: Words;
  terms: Term[];
  traces: TraceHeader[];
  comparison: Comparison | null;
}

export interface Words {
  generations: string[];
  kinds: string[];
  certainties: string[];
  reasons: Record<string, string>;
  condemned: { bit: number; name: string }[];
  mechanisms: { bit: number; name: string }[];
  phases: string[];
  phase_times: string[];
  roots: string[];
  pauses: string[];
  parts: string[];
}

export interface Term {
  name: string;
  unit: string;
  text: string;
}

export interface TraceHeader {
  name: string;
  side?: "before" | "after";
  report: Report;
  start: string;
  last_us: number;
  processes: ProcessHeader[];
}

export interface ProcessHeader {
  pid: number | null;
  name: string;
  command_line: string;
  runtime: string;
  os: string;
  arch: string;
  server: boolean | null;
  started_us: number;
  stopped_us: number;
  hard_limit_bytes: number | null;
  rows: number;
  rows_left_out: number;
  lengths: number[];
  phases: { number: number; parts: [number, number, number][] }[];
  details: number[]; // runs of rows
  chunks: number[];
  allocations: boolean;
  pause_at_least: boolean;
}

/** The report as gctrail report --format json --full prints it. */
export interface Report {
  file: string;
  format: string;
  start_time: string;
  duration_ms: number;
  verdict_code: string;
  verdict: string;
  processes: ProcessReport[];
  lost: { events: number; left_out: number; events_is: string; cut: boolean; late: number; damaged: number; at: { from_ms: number; to_ms: number }[]; at_in_all: number };
  collected: { providers: { name: string; keywords: number; keywords_hex: string; level: number; events: number }[] };
  cannot_tell: { what: string; command: string | null }[];
  next: string[];
}

export interface ProcessReport {
  pid: number | null;
  process: string | null;
  verdict_code: string;
  verdict: string;
  totals: {
    allocated_bytes: number | null; allocated_is: string | null; allocated_bytes_per_s: number | null; allocated_bytes_per_s_is: string | null;
    count: number; watched_ms: number; pause_pct: number | null; incomplete: number; affected_by_loss: number;
  };
  memory: { says: string } | null;
  findings: Finding[];
  suspensions_without_gc: { reason: string; kind: string; count: number; total_ms: number; max_ms: number }[];
}

export interface Finding {
  id: string;
  title: string;
  severity: "note" | "warning" | "problem";
  confidence: string;
  says: string;
  collections: number[];
  collections_in_all: number;
  advice: string[];
  settings: { env: string; env_value_hex: string; runtimeconfig: string | null; runtimeconfig_value: string | null; effect: string; cost: string; since: string | null }[];
  next: { purpose: string; command: string }[];
  types: { type: string; heap: string | null; share_of_heap_pct: number; from: string | null }[];
  callers: { method: string; calls: number }[];
}

/** A comparison of runs; internal/comparison/page.go writes it. */
export interface Comparison {
  summary: string;
  before: string[];
  after: string[];
  notes: string[];
  metrics: { verdict: "changed" | "same" | "cannot_tell"; word: string; name: string; explains: boolean; before: string; after: string; change: string; interval: string; note: string }[];
  causes: string[][];
}

export interface Allocations {
  source: string;
  event: string;
  bytes: number;
  low_bytes: number;
  high_bytes: number | null;
  samples: number;
  types: { type: string; heap: string; bytes: number; low_bytes: number; high_bytes: number | null; samples: number; objects: number }[];
  frames: string[];
  nodes: [number, number][];
  stacks: [number, number, number][];
  left_out_bytes: number;
  group: number;
  parts: number[][];
}
