// The figures that the table of collections can show. Made of gc/figure by go generate ./gc/figure.

export type Form = "count" | "moment" | "percent" | "plain" | "rate" | "size" | "time" | "word";

export interface Figure {
  id: string; // in the page's address
  label: string;
  term: string; // the name of a definition in internal/report
  width: number; // in characters
  start: boolean; // shown from the start
  column: string | null; // null if it is computed
  form: Form;
}

export const figures: Figure[] = [
  { id: "number", label: "GC", term: "collection", width: 6, start: true, column: "number", form: "plain" },
  { id: "start", label: "start", term: "start", width: 13, start: true, column: "start_us", form: "moment" },
  { id: "gen", label: "gen", term: "generation", width: 4, start: true, column: "generation", form: "count" },
  { id: "kind", label: "kind", term: "kind", width: 10, start: true, column: "kind", form: "word" },
  { id: "reason", label: "reason", term: "reason", width: 13, start: true, column: "reason", form: "word" },
  { id: "pause", label: "pause", term: "pause", width: 8, start: true, column: "pause_us", form: "time" },
  { id: "suspend", label: "suspend", term: "suspension", width: 8, start: true, column: "suspend_us", form: "time" },
  { id: "duration", label: "duration", term: "duration", width: 8, start: false, column: "duration_us", form: "time" },
  { id: "since", label: "since last", term: "since last", width: 8, start: false, column: "since_last_us", form: "time" },
  { id: "before", label: "before", term: "heap before", width: 8, start: true, column: "heap_before_bytes", form: "size" },
  { id: "after", label: "after", term: "heap after", width: 8, start: true, column: "heap_after_bytes", form: "size" },
  { id: "freed", label: "freed", term: "freed", width: 8, start: true, column: "freed_bytes", form: "size" },
  { id: "promoted", label: "promoted", term: "promoted", width: 8, start: true, column: "promoted_bytes", form: "size" },
  { id: "allocated", label: "allocated", term: "allocated", width: 8, start: true, column: "allocated_bytes", form: "size" },
  { id: "rate", label: "alloc. rate", term: "allocation rate", width: 10, start: false, column: null, form: "rate" },
  { id: "committed", label: "committed", term: "committed", width: 8, start: true, column: "committed_after_bytes", form: "size" },
  { id: "load", label: "load", term: "memory load", width: 7, start: false, column: "memory_load_pct", form: "percent" },
  { id: "heaps", label: "heaps", term: "heaps", width: 8, start: false, column: "heaps", form: "count" },
  { id: "pinned", label: "pinned", term: "pinned", width: 8, start: false, column: "pinned_objects", form: "count" },
];
