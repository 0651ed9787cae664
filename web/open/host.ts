// The place that the page runs in: a tab of its own, or an editor.

import type { Request } from "./request";

export interface Host {
  /** Opened at once. Without it, the page asks for files. */
  first?: Request;
  /** Keeps what was made of a trace under a name. */
  save(data: Blob, name: string): void;
  /** Adapts the page of a trace to the place, once it is loaded. */
  adapt?(frame: HTMLIFrameElement): void;
  /** Belongs to the URL of each page of a trace, such as #theme=dark. */
  fragment?(): string;
  /** Whether the place shows the names of the files, as the tab of an editor does. */
  named?: boolean;
  /** Shown beside the name of the trace. */
  hint?: string;
}

/** A tab: it asks for files, and the browser saves. */
export const tab: Host = {
  save(data, name) {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(data);
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60_000); // the browser reads it meanwhile
  },
};
