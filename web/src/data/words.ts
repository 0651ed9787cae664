// The words and units of conditions. Made of gc/figure by go generate ./internal/selection.

export interface Dimension {
  is: string;
  example: string;
  units: Record<string, number>; // in lower case
  bare: boolean; // the unit may be left out
}

export interface Word {
  name: string;
  meaning: string;
  example: string;
  column: string | null; // null if it is computed
  dimension: Dimension | null; // null of words
  below: number; // 0 for no limit
}

export const words: Word[] = [
  { name: "pause", meaning: "how long threads were paused", example: "200ms", column: "pause_us", dimension: { is: "a time", example: "200ms or 1.5s", units: { "ns": 0.001, "us": 1, "µs": 1, "ms": 1000, "s": 1e+06, "m": 6e+07, "min": 6e+07, "h": 3.6e+09 }, bare: false }, below: 0 },
  { name: "suspend", meaning: "time until all threads were suspended", example: "50ms", column: "suspend_us", dimension: { is: "a time", example: "200ms or 1.5s", units: { "ns": 0.001, "us": 1, "µs": 1, "ms": 1000, "s": 1e+06, "m": 6e+07, "min": 6e+07, "h": 3.6e+09 }, bare: false }, below: 0 },
  { name: "duration", meaning: "time from start to end", example: "1.5s", column: "duration_us", dimension: { is: "a time", example: "200ms or 1.5s", units: { "ns": 0.001, "us": 1, "µs": 1, "ms": 1000, "s": 1e+06, "m": 6e+07, "min": 6e+07, "h": 3.6e+09 }, bare: false }, below: 0 },
  { name: "gen", meaning: "the collected generation", example: "0, 1, 2", column: "generation", dimension: { is: "a generation", example: "0, 1 or 2", units: {  }, bare: true }, below: 3 },
  { name: "kind", meaning: "blocking, background or foreground", example: "background", column: "kind", dimension: null, below: 0 },
  { name: "reason", meaning: "why it started", example: "Induced, AllocSmall, ...", column: "reason", dimension: null, below: 0 },
  { name: "number", meaning: "the runtime's number of the collection", example: "1000", column: "number", dimension: { is: "a number", example: "2", units: {  }, bare: true }, below: 0 },
  { name: "heap", meaning: "heap size after", example: "1.5GB", column: "heap_after_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "before", meaning: "heap size before", example: "2GB", column: "heap_before_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "freed", meaning: "bytes freed", example: "10MB", column: "freed_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "promoted", meaning: "bytes that survived", example: "100MB", column: "promoted_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "committed", meaning: "committed memory after", example: "3GB", column: "committed_after_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "allocated", meaning: "allocated since the previous collection", example: "500MB", column: "allocated_bytes", dimension: { is: "a size", example: "10MB or 1.5GiB", units: { "b": 1, "kb": 1000, "mb": 1e+06, "gb": 1e+09, "tb": 1e+12, "kib": 1024, "mib": 1.048576e+06, "gib": 1.073741824e+09, "tib": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "rate", meaning: "allocation rate since then", example: "100MB/s", column: null, dimension: { is: "a size per second", example: "100MB/s", units: { "b/s": 1, "kb/s": 1000, "mb/s": 1e+06, "gb/s": 1e+09, "tb/s": 1e+12, "kib/s": 1024, "mib/s": 1.048576e+06, "gib/s": 1.073741824e+09, "tib/s": 1.099511627776e+12 }, bare: false }, below: 0 },
  { name: "load", meaning: "memory load of the machine or container", example: "90%", column: "memory_load_pct", dimension: { is: "a percentage", example: "90%", units: { "%": 1 }, bare: true }, below: 0 },
  { name: "pinned", meaning: "pinned objects found", example: "1000", column: "pinned_objects", dimension: { is: "a number", example: "2", units: {  }, bare: true }, below: 0 },
];
