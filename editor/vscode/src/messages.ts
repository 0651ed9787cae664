// What an editor and the page in it say to each other.

/** A file that the editor has read. */
export interface Content {
  name: string;
  data: Uint8Array;
}

/** What the page is to do with files. */
export interface Task {
  kind: "page" | "diff";
  /** How many of the files are runs from before; of diff. */
  before?: number;
}

export type ToPage =
  | { kind: "open"; task: Task; files: Content[] }
  | { kind: "failed"; why: string };

export type FromPage =
  | { kind: "ready" }
  | { kind: "save"; name: string; data: ArrayBuffer }
  | { kind: "source"; name: string };
