import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { classes, classOf } from "../charts/series";
import { useStore, type Store } from "../state/store";
import { count } from "../units";
import { chosen, columns, type Column } from "./columns";

const rowHeight = 28;
const beyond = 6; // rows above and below those that are seen
const most = 60; // rows in the page
const bar = 18; // room for a scroll bar below

/** All selected collections. Only the rows that are seen are in the page. */
export function Table({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const selection = useStore(store, (s) => s.selection);
  const state = useStore(store, (s) => s.state);
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(20 * rowHeight);
  const [focus, setFocus] = useState(0); // an index of sorted
  const narrow = useNarrow();

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry.contentRect.height));
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  const rows = selection.process === p ? selection.sorted : new Uint32Array(0);
  useLayoutEffect(() => {
    setFocus((old) => Math.min(old, Math.max(0, rows.length - 1)));
  }, [rows]);
  if (!p) return null;

  const shown = narrow ? pauseFirst(chosen(state.columns)) : chosen(state.columns);
  const descending = state.sort.startsWith("-");
  const by = state.sort.replace(/^-/, "");
  const of = classOf(p);
  const seen = Math.min(most - 2 * beyond, Math.ceil(height / rowHeight) + 1);
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - beyond, rows.length - seen));
  const last = Math.min(rows.length, first + seen + 2 * beyond);
  const characters = (c: Column) => c.width + (c.more?.(p) ?? 0) + (narrow ? 1 : 0);
  const template = shown.map((c) => `minmax(${characters(c)}ch, ${c.left ? 1.4 : 1}fr)`).join(" ");
  const width = `${shown.reduce((n, c) => n + characters(c) + (narrow ? 0 : 2), 0)}ch`;

  const sortBy = (c: Column) => store.set({ sort: by === c.id ? (descending ? c.id : `-${c.id}`) : c.left || ["number", "start", "paused_at"].includes(c.id) ? c.id : `-${c.id}` });
  const go = (index: number) => {
    index = Math.min(rows.length - 1, Math.max(0, index));
    setFocus(index);
    const box = body.current!;
    const y = index * rowHeight;
    const head = rowHeight; // the heading covers the first row
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + rowHeight > box.scrollTop + box.clientHeight - head) box.scrollTop = y + rowHeight - box.clientHeight + head;
  };
  const onKey = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).tagName === "BUTTON" || rows.length === 0) return;
    const page = Math.max(1, Math.floor(height / rowHeight) - 2);
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(focus + 1),
      ArrowUp: () => go(focus - 1),
      PageDown: () => go(focus + page),
      PageUp: () => go(focus - page),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      Enter: () => store.set({ gc: rows[focus] }),
      " ": () => store.set({ gc: rows[focus] }),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };

  const lines: JSX.Element[] = [];
  for (let i = first; i < last; i++) {
    const row = rows[i];
    lines.push(
      <div
        key={i} id={`row-${i}`} role="row" aria-rowindex={i + 2} aria-selected={state.gc === row}
        class={`row ${classes[of(row)]?.id ?? ""}${i === focus ? " focus" : ""}${p.get("complete")[row] === 0 ? " incomplete" : ""}`}
        style={{ gridTemplateColumns: template, transform: `translateY(${i * rowHeight}px)` }}
        onClick={() => {
          setFocus(i);
          store.set({ gc: row });
        }}
      >
        {shown.map((c) => <div role="gridcell" key={c.id} class={c.left ? "" : "number"}>{c.text(p, row)}</div>)}
      </div>,
    );
  }
  return (
    <section class="collections" id="collections" aria-labelledby="collections-title">
      <header class="section-head">
        <h2 id="collections-title">GCs</h2>
        <p class="hint">{count(rows.length)} of {count(selection.process === p ? selection.of : p.rows)}. Keys: ↑ ↓ move, Enter details.</p>
        {lines.length < rows.length && <p class="printed">GCs {count(first + 1)} to {count(last)} of {count(rows.length)} in this order; gctrail gcs prints all.</p>}
        <Chooser store={store} />
      </header>
      <div
        class="grid" role="grid" aria-label="Garbage collections" aria-rowcount={rows.length + 1} aria-colcount={shown.length} aria-activedescendant={rows.length > 0 ? `row-${focus}` : undefined}
        tabIndex={0} ref={body} style={{ "--needed": `${((rows.length || 4) + 1) * rowHeight + bar}px` }} onKeyDown={onKey} onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      >
        <div class="row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template, minWidth: width }}>
          {shown.map((c) => (
            <div role="columnheader" key={c.id} class={c.left ? "" : "number"} aria-sort={by === c.id ? (descending ? "descending" : "ascending") : "none"}>
              <button type="button" title={term(store, c)} onClick={() => sortBy(c)}>
                {c.label}
                <span aria-hidden="true">{by === c.id ? (descending ? " ▾" : " ▴") : ""}</span>
              </button>
            </div>
          ))}
        </div>
        <div class="rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px`, minWidth: width }}>{lines}</div>
        {rows.length === 0 && <p class="empty">No GC is selected.</p>}
      </div>
    </section>
  );
}

const narrowScreen = matchMedia("screen and (max-width: 620px)"); // as in style.css

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(narrowScreen.matches);
  useEffect(() => {
    const change = () => setNarrow(narrowScreen.matches);
    narrowScreen.addEventListener("change", change);
    return () => narrowScreen.removeEventListener("change", change);
  }, []);
  return narrow;
}

/** The columns, with the pause before words: a narrow screen shows the first few without scrolling. */
function pauseFirst(columns: Column[]): Column[] {
  const pause = columns.find((c) => c.id === "pause");
  const others = columns.filter((c) => c !== pause);
  const words = others.findIndex((c) => c.left);
  return pause && words >= 0 ? [...others.slice(0, words), pause, ...others.slice(words)] : columns;
}

function term(store: Store, c: Column): string {
  return store.data.head.terms.find((t) => t.name === c.term)?.text ?? `Sort by ${c.label}`;
}

/** Chooses the columns of the table. */
function Chooser({ store }: { store: Store }): JSX.Element {
  const ids = useStore(store, (s) => s.state.columns);
  const on = new Set(chosen(ids).map((c) => c.id));
  const change = (id: string, add: boolean) => {
    if (add) on.add(id);
    else on.delete(id);
    store.set({ columns: columns.filter((c) => on.has(c.id)).map((c) => c.id) });
  };
  return (
    <details class="chooser">
      <summary>Columns</summary>
      <fieldset>
        <legend>Columns to show</legend>
        {columns.slice(1).map((c) => (
          <label key={c.id}>
            <input type="checkbox" checked={on.has(c.id)} onChange={(e) => change(c.id, e.currentTarget.checked)} />
            {c.label}
          </label>
        ))}
        <button type="button" onClick={() => store.set({ columns: null })}>As at the start</button>
      </fieldset>
    </details>
  );
}
