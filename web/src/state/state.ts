// What is shown, as the page's URL holds it: a link shows the same.

export interface State {
  source: string; // of what a server has: file-1, process-2
  process: number;
  compare: boolean;
  from: number | null; // selected times, in microseconds
  to: number | null;
  zoomFrom: number | null; // shown times
  zoomTo: number | null;
  where: string; // a condition that is typed
  pick: string; // a condition from a table or a chart
  sort: string; // a column, with - before it for descending
  columns: string[] | null; // null for those of the start
  gc: number | null; // the row whose details are open
  type: string; // of allocations
  snapshot: number | null; // of the heap; null for the last
  base: number | null; // the snapshot that it is compared with; null for the first
  held: number | null; // the type of objects whose paths are shown
  axis: string; // of pauses: log or linear; empty for the one that fits
  theme: "auto" | "light" | "dark";
}

export const initial: State = {
  source: "",
  process: 0,
  compare: true,
  from: null,
  to: null,
  zoomFrom: null,
  zoomTo: null,
  where: "",
  pick: "",
  sort: "number",
  columns: null,
  gc: null,
  type: "",
  snapshot: null,
  base: null,
  held: null,
  axis: "",
  theme: "auto",
};

/** The pick of the collections that a finding quotes. */
export const pickOf = (rule: string) => `finding ${rule}`;

/** The rule of the finding that a pick names, null where it is a condition. */
export const findingOf = (pick: string): string | null => /^finding (\w+)$/.exec(pick)?.[1] ?? null;

const numbers = ["process", "from", "to", "zoomFrom", "zoomTo", "gc", "snapshot", "base", "held"] as const;
const texts = ["source", "where", "pick", "sort", "type", "axis"] as const;

/** Reads a URL's fragment; what is not understood is left out. */
export function read(fragment: string): State {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const state: State = { ...initial };
  for (const key of numbers) {
    const text = params.get(key);
    const value = Number(text);
    if (text && Number.isFinite(value) && value >= 0) state[key] = value;
  }
  for (const key of texts) state[key] = (params.get(key) ?? initial[key]).slice(0, 10_000);
  const columns = params.get("columns");
  if (columns) state.columns = columns.split(",").slice(0, 100);
  const theme = params.get("theme");
  if (theme === "light" || theme === "dark") state.theme = theme;
  state.compare = params.get("compare") !== "no";
  if (state.from !== null && state.to !== null && state.from >= state.to) state.from = state.to = null;
  if (state.zoomFrom === null || state.zoomTo === null || state.zoomFrom >= state.zoomTo) state.zoomFrom = state.zoomTo = null;
  return state;
}

/** Writes a URL's fragment. */
export function write(state: State): string {
  const params = new URLSearchParams();
  for (const key of numbers) {
    if (state[key] !== initial[key] && state[key] !== null) params.set(key, String(Math.round(state[key])));
  }
  for (const key of texts) {
    if (state[key] !== initial[key]) params.set(key, state[key]);
  }
  if (state.columns) params.set("columns", state.columns.join(","));
  if (state.theme !== "auto") params.set("theme", state.theme);
  if (!state.compare) params.set("compare", "no");
  return params.toString();
}
