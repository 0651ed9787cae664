// What a page is given; internal/html/header.go writes it.

import type { DetailsHeader } from "./details";
import type { Document } from "./report";

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
  report: Document;
  beside?: string; // which files beside it were read with it
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
  objects: boolean;
  requests: boolean;
  /** Commands for new traces, each empty where there is none. */
  record: { collections: string; stacks: string; phases: string; others: { name: string; what: string; command: string }[] | null };
  pause_at_least: boolean;
  missing: number; // GCs that are not in the trace, although the numbers of later ones show that they ran
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
  allocated_bytes: number | null;
  samples: number;
  types: { type: string; heap: string; bytes: number; low_bytes: number; high_bytes: number | null; samples: number; objects: number }[];
  frames: string[];
  nodes: [number, number][];
  stacks: [number, number, number][];
  left_out_bytes: number;
  group: number;
  parts: number[][];
}

/** The requests of a process; internal/html/requests.go describes them. */
export interface Requests {
  requests: number;
  unended: number;
  left_out: number;
  p50_us: number;
  p99_us: number;
  p99_running_us: number;
  slowest: { requests: number; paused_pct: number };
  labels: string[];
  dots: { start_us: number[]; duration_us: number[]; gc_paused_us: number[]; label: number[]; trace_ids: string };
  cells: [time: number, duration: number, requests: number, pausedThousandths: number][];
  cell_us: number;
  cells_per_tenfold: number;
}

/** The heap snapshots of a process; internal/html/objects.go describes them. */
export interface Objects {
  names: string[];
  modules: number[];
  files: string[];
  generations: string[];
  fold_below: number;
  snapshots: Snapshot[];
  snapshots_left_out: number;
  suspects: { says: string; type: number; confidence: string }[];
  unsuspected: string;
}

export interface Snapshot {
  label: string;
  start_us: number | null;
  about: string;
  lacks: string;
  objects: number;
  bytes: number;
  live_objects: number | null;
  live_bytes: number | null;
  roots: { root: string; roots: number; retained_bytes: number | null }[];
  weak_roots: number;
  generations: { name: string; objects: number; bytes: number; free_bytes: number | null }[];
  types: number[][];
  others: { types: number; objects: number; bytes: number };
  tree: [name: number, parent: number, objects: number, bytes: number, totalObjects: number, totalBytes: number][];
  paths: number[][];
}
