// What a page is given; export/html/header.go writes it.

export interface Header {
  version: number;
  program: string;
  columns: { name: string; from: [number, number, number][] }[];
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
  details: number[];
  allocations: boolean;
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
  lost: { events: number; events_is: string; cut: boolean; late: number; damaged: number; at: { from_ms: number; to_ms: number }[]; at_in_all: number };
  collected: { providers: { name: string; keywords: number; keywords_hex: string; level: number; events: number }[] };
  cannot_tell: { what: string; command: string | null }[];
  next: string[];
}

export interface ProcessReport {
  pid: number | null;
  process: string | null;
  verdict_code: string;
  verdict: string;
  totals: { count: number; watched_ms: number; pause_pct: number | null; incomplete: number; affected_by_loss: number };
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

/** A collection as gctrail gcs --format jsonl prints it. */
export interface Detail {
  number: number;
  generation: number | null;
  kind: string | null;
  requested_kind: string | null;
  reason: string | null;
  condemned: string[] | null;
  start_time: string | null;
  start_ms: number | null;
  duration_ms: number | null;
  pause_ms: number | null;
  suspend_ms: number | null;
  pauses: { kind: string; start_ms: number; duration_ms: number; suspend_ms: number | null; restart_ms: number | null }[];
  since_last_ms: number | null;
  heap_before_bytes: number | null;
  heap_after_bytes: number | null;
  heap_peak_bytes: number | null;
  promoted_bytes: number | null;
  freed_bytes: number | null;
  freed_is: string | null;
  allocated_bytes: number | null;
  allocated_is: string | null;
  committed_before_bytes: number | null;
  committed_after_bytes: number | null;
  memory_load_pct: number | null;
  heaps: number | null;
  generations: DetailGeneration[] | null;
  pinned_objects: number | null;
  finalization_promoted_bytes: number | null;
  finalization_promoted_count: number | null;
  gc_handles: number | null;
  sync_blocks: number | null;
  mechanisms: string[] | null;
  compacted: boolean | null;
  mark: { heap: number; root: string; ms: number; bytes: number | null }[] | null;
  complete: boolean;
  affected_by_loss: boolean;
  per_heap?: { heap: number; generations: DetailGeneration[] }[];
}

export interface DetailGeneration {
  name: string;
  before_bytes: number;
  after_bytes: number | null;
  in_bytes: number;
  out_bytes: number;
  freed_bytes?: number | null;
  fragmentation_bytes: number | null;
  survival_pct?: number | null;
  budget_bytes: number;
  pinned_bytes: number | null;
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
