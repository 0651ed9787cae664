// The messages between the page and its worker.

/** What of a trace is read: processes by id or name, and times as for --from and --to. */
export interface Part {
  process?: string;
  from?: string;
  to?: string;
}

/** A request to the module, of cmd/gctrail-wasm. */
export interface Request extends Part {
  kind: "page" | "entry" | "report" | "convert" | "diff";
  format?: string;
  files: File[];
  /** Files in the same folder, which are read with these where they belong to them. */
  beside?: File[];
  /** How many of the files are runs from before; of diff. */
  before?: number;
  redact: boolean;
}

/** A format of exports. */
export interface Format {
  name: string;
  suffix: string;
  says: string;
}

/** How far a reading is: bytes, bytes in all, collections found. */
export type Progress = (read: number, size: number, collections: number) => void;

/** A message of the worker. */
export type Answer =
  | { kind: "ready"; program: string; formats: Format[] }
  | { kind: "progress"; read: number; size: number; collections: number }
  | { kind: "done"; data: ArrayBuffer }
  | { kind: "failed"; why: string };
