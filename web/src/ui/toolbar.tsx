import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { words as figures } from "../data/words";
import { useStore, type Store } from "../state/store";
import { count, duration, moment, plural } from "../units";

const examples = ["pause>10ms", "gen=2 and kind=blocking", "reason=Induced", "promoted>50MB or heap>1GB"];

/** What is selected: times, a condition, and what was picked. A comparison counts the GCs of its sides elsewhere. */
export function Toolbar({ store, counts = true }: { store: Store; counts?: boolean }): JSX.Element | null {
  const state = useStore(store, (s) => s.state);
  const selection = useStore(store, (s) => s.selection);
  const p = store.process;
  const [text, setText, sending] = useTyped(state.where);
  const send = (where: string) => {
    sending(where);
    store.set({ where });
  };
  useEffect(() => {
    if (text === state.where) return;
    const timer = setTimeout(() => send(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!bar.current) return;
    const observer = new ResizeObserver(([entry]) => document.documentElement.style.setProperty("--toolbar", `${entry.borderBoxSize[0].blockSize}px`));
    observer.observe(bar.current);
    return () => observer.disconnect();
  }, [p]);
  if (!p) return null;
  const current = selection.process === p;
  const timed = state.from !== null || state.to !== null;
  const zoomed = state.zoomFrom !== null;
  const nothing = !timed && !zoomed && state.where === "" && state.pick === "";
  return (
    <section class={`toolbar${nothing ? " idle" : ""}`} ref={bar} aria-label="Selection" role="search">
      <div class="field grow">
        <label for="where">Filter</label>
        <input
          id="where" type="text" value={text} spellcheck={false} autocomplete="off" list="examples" placeholder="pause>10ms and gen=2"
          aria-describedby="where-help" aria-invalid={selection.error !== ""}
          onInput={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") send(text);
            if (e.key === "Escape") {
              setText("");
              send("");
            }
          }}
        />
        <datalist id="examples">{examples.map((e) => <option key={e} value={e} />)}</datalist>
      </div>
      <TimeField id="from" label="From" value={state.from} store={store} />
      <TimeField id="to" label="To" value={state.to} store={store} />
      <div class="buttons">
        <button type="button" disabled={!timed} onClick={() => store.set({ zoomFrom: state.from ?? 0, zoomTo: state.to ?? p.end })}>Zoom in</button>
        <button type="button" disabled={!zoomed} onClick={() => store.set({ zoomFrom: null, zoomTo: null })}>Zoom out</button>
        <button type="button" disabled={nothing} onClick={() => store.set({ from: null, to: null, zoomFrom: null, zoomTo: null, where: "", pick: "" })}>Reset</button>
      </div>
      <p class="status" id="where-help" role="status">
        {selection.error !== "" ? <span class="error">{selection.error}</span> : (
          <>
            {counts && <><b>{count(current ? selection.rows.length : NaN)}</b> of {plural(current ? selection.of : p.rows, "GC")} selected</>}
            {state.where !== "" && <span class="printed">by {state.where}</span>}
            {timed && <Chip label={stretch(state.from ?? 0, state.to ?? p.end)} clear={() => store.set({ from: null, to: null })} />}
            {state.pick !== "" && <Chip label={state.pick} clear={() => store.set({ pick: "" })} />}
            {zoomed && <Chip label={`shown: ${stretch(state.zoomFrom ?? 0, state.zoomTo ?? p.end)}`} clear={() => store.set({ zoomFrom: null, zoomTo: null })} />}
          </>
        )}
      </p>
      <details class="grammar">
        <summary>Filter syntax</summary>
        <p>Comparisons with &gt; &gt;= &lt; &lt;= = !=, joined by and, or and parentheses: the syntax of <code>gctrail collect --until</code>. An unknown figure meets no comparison. In place of an amount, p50 to p99.9 is that percentile of all GCs of the process, as in <code>pause&gt;p99</code>; only this page has these.</p>
        <table class="plain"><tbody>{figures.map((f) => <tr key={f.name}><th scope="row"><code>{f.name}</code></th><td>{f.meaning}</td><td><code>{f.example}</code></td></tr>)}</tbody></table>
      </details>
    </section>
  );
}

const stretch = (from: number, to: number) => `${moment(from)} to ${moment(to)} (${duration(to - from)})`;

function Chip({ label, clear }: { label: string; clear: () => void }): JSX.Element {
  return (
    <span class="chip">
      <span>{label}</span>
      <button type="button" aria-label={`Remove ${label}`} onClick={clear}>×</button>
    </span>
  );
}

/** A text that is typed, until another one is chosen. What is typed while the page takes in what was sent stays. */
function useTyped(chosen: string): [text: string, type: (text: string) => void, sending: (text: string) => void] {
  const known = useRef<{ text: string; chosen: string; sent: string | null }>({ text: chosen, chosen, sent: null });
  const [, redraw] = useState(0);
  const k = known.current;
  if (chosen !== k.chosen) {
    if (chosen !== k.sent) k.text = chosen;
    k.chosen = chosen;
    k.sent = null;
  }
  const type = (text: string) => {
    k.text = text;
    redraw((n) => n + 1);
  };
  return [k.text, type, (text) => { k.sent = text; }];
}

/** A time in seconds. What is being typed stays while the page is drawn again. */
function TimeField({ id, label, value, store }: { id: "from" | "to"; label: string; value: number | null; store: Store }): JSX.Element {
  const chosen = value === null ? "" : String(value / 1e6);
  const [text, setText] = useTyped(chosen);
  const change = (text: string) => {
    const s = Number(text);
    const us = text.trim() === "" || !Number.isFinite(s) || s < 0 ? null : Math.round(s * 1e6);
    const other = id === "from" ? store.state.to : store.state.from;
    if (us !== null && other !== null && (id === "from" ? us >= other : us <= other)) store.set({ from: null, to: null, [id]: us });
    else store.set({ [id]: us });
  };
  return (
    <div class="field">
      <label for={id}>{label} <small>s</small></label>
      <input id={id} type="number" min="0" step="any" value={text} onInput={(e) => setText(e.currentTarget.value)} onChange={(e) => change(e.currentTarget.value)} />
    </div>
  );
}
