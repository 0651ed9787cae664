// The report as gctrail report --format json --full prints it. Made of internal/report by go generate ./internal/schema.

export interface GenerationTotals {
  generation: number;
  count: number;
  pause_ms: number | null;
  pause_max_ms: number | null;
  pause_p50_ms: number | null;
  pause_p90_ms: number | null;
  pause_p99_ms: number | null;
  allocated_bytes: number | null;
  freed_bytes: number | null;
  promoted_bytes: number | null;
  allocated_is: string | null;
  freed_is: string | null;
}

export interface KindTotals {
  kind: string;
  count: number;
  pause_ms: number | null;
  pause_max_ms: number | null;
  pause_p50_ms: number | null;
  pause_p90_ms: number | null;
  pause_p99_ms: number | null;
  allocated_bytes: number | null;
  freed_bytes: number | null;
  promoted_bytes: number | null;
  allocated_is: string | null;
  freed_is: string | null;
}

export interface ReasonTotals {
  reason: string | null;
  reason_code: number | null;
  count: number;
  pause_ms: number | null;
  pause_max_ms: number | null;
}

export interface HeapSizes {
  peak_bytes: number | null;
  after_bytes: number | null;
  committed_bytes: number | null;
  committed_max_bytes: number | null;
  memory_load_max_pct: number | null;
  heaps_min: number | null;
  heaps_max: number | null;
}

export interface WorstWindow {
  window_ms: number;
  from_ms: number;
  pause_ms: number;
  other_suspension_ms: number;
  pause_pct: number;
  mutator_utilization_min_pct: number;
}

export interface ProcessTotals {
  count: number;
  pause_ms: number | null;
  pause_max_ms: number | null;
  pause_p50_ms: number | null;
  pause_p90_ms: number | null;
  pause_p99_ms: number | null;
  allocated_bytes: number | null;
  freed_bytes: number | null;
  promoted_bytes: number | null;
  allocated_is: string | null;
  freed_is: string | null;
  watched_ms: number;
  pause_pct: number | null;
  suspend_ms: number | null;
  allocated_max_bytes: number | null;
  allocated_bytes_per_s: number | null;
  allocated_bytes_per_s_is: string | null;
  incomplete: number;
  affected_by_loss: number;
  induced: number;
  generations: GenerationTotals[];
  kinds: KindTotals[];
  reasons: ReasonTotals[];
  heap: HeapSizes;
  worst_windows: WorstWindow[];
}

export interface Setting {
  env: string;
  env_value_hex: string;
  runtimeconfig: string | null;
  runtimeconfig_value: string | null;
  effect: string;
  cost: string;
  since: string | null;
}

export interface Step {
  purpose: string;
  command: string;
}

export interface AllocatedType {
  type: string;
  heap: string | null;
  source: string;
  bytes: number;
  low_bytes: number;
  high_bytes: number | null;
  share_of_heap_pct: number;
  from: string | null;
  from_bytes: number | null;
}

export interface Caller {
  method: string;
  calls: number;
}

export interface OpenHandles {
  kind: string;
  created: number;
  open: number;
  growth_per_s: number;
  from: string | null;
  from_open: number | null;
}

export interface PinnedType {
  type: string | null;
  pins: number;
  bytes: number;
  share_pct: number;
  collections: number;
  longest_run: number;
  by_handle: number | null;
  gap_bytes: number | null;
}

export interface FinalizedType {
  type: string | null;
  finalized: number;
  share_pct: number;
}

export interface HeapThread {
  heap: number;
  working_ms: number;
  waiting_ms: number;
  waking_ms: number;
  last: number;
  held_ms: number;
}

export interface Finding {
  id: string;
  title: string;
  severity: string;
  confidence: string;
  says: string;
  evidence: Record<string, number>;
  collections: number[];
  collections_in_all: number;
  advice: string[];
  settings: Setting[];
  next: Step[];
  types: AllocatedType[];
  callers: Caller[];
  handles: OpenHandles[];
  pins: PinnedType[];
  finalized: FinalizedType[];
  heaps: HeapThread[];
}

export interface Suspension {
  reason: string;
  reason_code: number;
  kind: string;
  count: number;
  total_ms: number;
  max_ms: number;
}

export interface Timeline {
  start_ms: number;
  bucket_ms: number;
  collections: number[];
  pause_ms: number[];
  heap_after_bytes: (number | null)[];
  committed_bytes: (number | null)[];
}

export interface Processors {
  processors: number | null;
  machine_processors: number | null;
  quota_processors: number | null;
  memory_limit_bytes: number | null;
  settings: string[];
  covered_ms: number | null;
  thread_run_ms: number | null;
  thread_wait_ms: number | null;
  thread_wait_pct: number | null;
  thread_wait_pct_in_pauses: number | null;
  gc_threads: number | null;
  gc_cpu_ms: number | null;
  gc_cpu_max_ms: number | null;
  gc_cpu_pct: number | null;
  gc_cpu_max_pct: number | null;
  background_gc_cpu_ms: number | null;
  gc_cpu_source: string | null;
  gc_cpu_estimate_ms: number | null;
  gc_cpu_estimate_pct: number | null;
  pausing_gc_cpu_ms: number | null;
  cpu_samples: number | null;
  gc_cpu_samples: number | null;
  cpu_samples_of_unknown: number | null;
  cpu_sample_ms: number | null;
  quota_periods: number | null;
  throttled_periods: number | null;
  throttled_ms: number | null;
  machine_busy_ms: number | null;
  machine_stolen_ms: number | null;
  machine_wait_ms: number | null;
  cgroup_wait_ms: number | null;
}

export interface MemoryMoment {
  at_ms: number;
  rss_bytes: number | null;
  heap_bytes: number | null;
  committed_bytes: number | null;
  native_bytes: number | null;
  native_min_bytes: number | null;
  native_max_bytes: number | null;
  cgroup_used_bytes: number | null;
  cgroup_limit_bytes: number | null;
  hard_limit_bytes: number | null;
}

export interface MemoryHistory {
  end: string | null;
  grew: string | null;
  says: string;
  until: string;
  timeline: MemoryMoment[];
  rss_bytes: number | null;
  heap_bytes: number | null;
  committed_bytes: number | null;
  native_bytes: number | null;
  native_min_bytes: number | null;
  native_max_bytes: number | null;
  cgroup_used_bytes: number | null;
  cgroup_limit_bytes: number | null;
  hard_limit_bytes: number | null;
}

export interface LongPause {
  number: number;
  generation: number | null;
  kind: string;
  reason: string | null;
  pause_start_ms: number | null;
  pause_ms: number | null;
  suspend_ms: number | null;
  promoted_bytes: number | null;
  affected_by_loss: boolean;
}

export interface PausePercentile {
  generation: number | null;
  kind: string | null;
  percentile: string;
  pause_ms: number;
  number: number;
  reason: string | null;
  start_ms: number | null;
  as_long: number;
}

export interface PhaseTotals {
  phase: string;
  count: number;
  total_ms: number;
  max_ms: number;
  number: number;
}

export interface Omitted {
  pauses: number;
}

export interface Process {
  pid: number | null;
  process: string | null;
  command_line: string | null;
  runtime: string | null;
  server: boolean | null;
  verdict_code: string;
  verdict: string;
  totals: ProcessTotals;
  findings: Finding[];
  suspensions_without_gc: Suspension[];
  timeline: Timeline | null;
  processors: Processors | null;
  memory: MemoryHistory | null;
  longest_pauses: LongPause[];
  percentiles: PausePercentile[];
  background_phases: PhaseTotals[];
  omitted: Omitted;
}

export interface ProcessWithoutGC {
  pid: number | null;
  process: string | null;
  allocated_bytes: number | null;
  allocated_is: string | null;
  allocated_max_bytes: number | null;
}

export interface TimeRange {
  from_ms: number;
  to_ms: number;
}

export interface Lost {
  events: number;
  left_out: number;
  events_is: string;
  cut: boolean;
  late: number;
  damaged: number;
  at: TimeRange[];
  at_in_all: number;
}

export interface Provider {
  name: string;
  keywords: number;
  keywords_hex: string;
  level: number;
  events: number;
}

export interface Collected {
  providers: Provider[];
}

export interface Gap {
  what: string;
  command: string | null;
}

export interface Document {
  schema_version: number;
  file: string;
  format: string;
  start_time: string;
  duration_ms: number;
  verdict_code: string;
  verdict: string;
  processes: Process[];
  processes_without_gc: ProcessWithoutGC[];
  lost: Lost;
  collected: Collected;
  cannot_tell: Gap[];
  next: string[];
  next_if_ended: string | null;
  omitted: string[];
}
