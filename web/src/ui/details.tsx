import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { word, type Detail } from "../data/details";
import { beganLater } from "../charts/readings";
import type { Process } from "../data/process";
import { useLoaded, useStore, type Store } from "../state/store";
import { bytes, count, duration, moment, percent, unknown } from "../units";
import { columns, mostly } from "./columns";
import { Command, explain } from "./parts";

const names: Record<string, string> = { gen0: "gen 0", gen1: "gen 1", gen2: "gen 2", loh: "LOH", poh: "POH" };

/** All that is known of one collection, beside the page. */
export function Details({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const row = useStore(store, (s) => s.state.gc);
  const panel = useRef<HTMLDivElement>(null);
  const opener = useRef<Element | null>(null);
  const valid = p !== null && row !== null && row < p.rows;

  const loaded = useLoaded(() => valid && store.data.detail(p, row).then((of) => ({ of })), [p, row]);
  useEffect(() => {
    if (!valid) return;
    opener.current ??= document.activeElement;
    panel.current?.focus({ preventScroll: true });
  }, [valid]);

  if (!valid) return null;
  const close = () => {
    store.set({ gc: null });
    if (opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true });
    opener.current = null;
  };
  const step = (by: number) => store.set({ gc: Math.min(p.rows - 1, Math.max(0, row + by)) });
  const d = loaded?.of;
  const get = (name: string) => p.get(name)[row];
  const kind = columns.find((c) => c.id === "kind")!.text(p, row);
  const reason = columns.find((c) => c.id === "reason")!.text(p, row);
  return (
    <div
      class="details" ref={panel} tabIndex={-1} role="dialog" aria-label={`GC ${get("number")}`}
      onKeyDown={(e) => {
        if (e.key === "Escape") close();
        else if (e.key === "ArrowLeft") step(-1);
        else if (e.key === "ArrowRight") step(1);
        else return;
        e.preventDefault();
      }}
    >
      <header>
        <h2>GC {get("number")}</h2>
        <p>gen {Number.isNaN(get("generation")) ? unknown : get("generation")}, {kind}, {duration(get("pause_us"))} pause</p>
        <div class="buttons">
          <button type="button" onClick={() => step(-1)} disabled={row === 0} aria-label="Previous GC">←</button>
          <button type="button" onClick={() => step(1)} disabled={row === p.rows - 1} aria-label="Next GC">→</button>
          <button type="button" onClick={close} aria-label="Close the details">×</button>
        </div>
      </header>
      <div class="scroll">
        {get("complete") === 0 && <p class="warning">Incomplete: the trace begins or ends during this GC, or lacks events of it.</p>}
        {get("affected_by_loss") === 1 && <p class="warning">Lost events may belong to this GC: figures that they would change are unknown.</p>}
        <Part title="Why">
          <dl class="words">
            <dt>{reason}</dt><dd>{explain(p.head, reason)}</dd>
            {bits(p, "condemned", p.head.words.condemned, row).map((name) => <Words key={name} name={name} text={explain(p.head, name)} />)}
          </dl>
        </Part>
        <Part title="Time">
          <table class="plain"><tbody>
            <Line label="start" value={moment(get("start_us"))} note={beganLater(p, row) && `${beganLater(p, row)} after its pause began`} />
            <Line label="pause" value={duration(get("pause_us"))} />
            <Line label="mostly" value={mostly(p, row)} />
            <Line label="suspension" value={duration(get("suspend_us"))} />
            <Line label="start to end" value={duration(get("duration_us"))} />
            <Line label="since the GC before" value={duration(get("since_last_us"))} />
          </tbody></table>
          {d && d.lists.pauses.length > 0 && (
            <table class="plain">
              <thead><tr><th scope="col">pause</th><th scope="col" class="number">at</th><th scope="col" class="number">length</th><th scope="col" class="number">suspend</th><th scope="col" class="number">restart</th></tr></thead>
              <tbody>{d.lists.pauses.map((q) => <tr key={q.start_us}><td>{word(p.head.words, "pauses", q.kind)}</td><td class="number">{moment(q.start_us)}</td><td class="number">{duration(q.duration_us)}</td><td class="number">{duration(q.suspend_us)}</td><td class="number">{duration(q.restart_us)}</td></tr>)}</tbody>
            </table>
          )}
          {d && d.lists.phase_times.length > 0 && (
            <table class="plain">
              <thead><tr><th scope="col">phase of the pause</th><th scope="col" class="number">length</th></tr></thead>
              <tbody>{d.lists.phase_times.map((t, i) => <tr key={i}><td>{phrase(word(p.head.words, "phase_times", t.phase))}</td><td class="number">{duration(t.us)}</td></tr>)}</tbody>
            </table>
          )}
        </Part>
        <Part title="Memory">
          <table class="plain"><tbody>
            <Line label="heap" value={`${bytes(get("heap_before_bytes"))} → ${bytes(get("heap_after_bytes"))}`} />
            <Line label="allocated before it" value={bytes(get("allocated_bytes"))} note={certainty(p, "allocated_is", row)} />
            <Line label="freed" value={bytes(get("freed_bytes"))} note={certainty(p, "freed_is", row)} />
            <Line label="promoted" value={bytes(get("promoted_bytes"))} />
            <Line label="committed" value={d ? `${bytes(d.scalars.committed_before_bytes)} → ${bytes(get("committed_after_bytes"))}` : bytes(get("committed_after_bytes"))} />
            <Line label="memory load" value={percent(get("memory_load_pct"))} />
            <Line label="pinned objects" value={count(get("pinned_objects"))} />
            {d && <Line label="kept for finalizers" value={`${count(d.scalars.finalization_promoted_count)} objects, ${bytes(d.scalars.finalization_promoted_bytes)}`} />}
            {d && <Line label="GC handles" value={count(d.scalars.gc_handles)} />}
            {d && <Line label="sync blocks" value={count(d.scalars.sync_blocks)} />}
            <Line label="heaps" value={count(get("heaps"))} />
          </tbody></table>
        </Part>
        <Part title="Generations"><Generations p={p} row={row} of={d?.lists.generations ?? []} /></Part>
        <Part title="How">
          <dl class="words">
            {bits(p, "mechanisms", p.head.words.mechanisms, row).map((name) => <Words key={name} name={name} text={explain(p.head, name)} />)}
            <Words name={get("compacted") === 1 ? "compacting" : get("compacted") === 0 ? "sweeping" : "unknown"} text={get("compacted") === 1 ? "Objects were moved together." : get("compacted") === 0 ? "Objects stayed where they were; free space went to free lists." : "The trace does not show whether objects were moved."} />
          </dl>
        </Part>
        {d && d.lists.marks.length > 0 && <Part title="Marking, by root"><Marks d={d} p={p} /></Part>}
        {d && d.lists.heaps.length > 1 && <Part title="By heap"><Heaps d={d} /></Part>}
        {d === null && (
          <Part title="More">
            <p class="hint">{without(p, store)}</p>
            {!store.data.follow && <Command text={`gctrail gcs --format jsonl ${p.trace.report.file} | jq 'select(.number == ${get("number")})'`} />}
          </Part>
        )}
      </div>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return <section><h3>{title}</h3>{children}</section>;
}

function Line({ label, value, note }: { label: string; value: string; note?: string }): JSX.Element {
  return <tr><th scope="row">{label}</th><td class="number">{value}{note && <small> {note}</small>}</td></tr>;
}

function Words({ name, text }: { name: string; text: string }): JSX.Element {
  return <><dt>{name}</dt><dd>{text}</dd></>;
}

/** The names of the bits that are set. */
function bits(p: Process, column: string, of: { bit: number; name: string }[], row: number): string[] {
  const value = p.get(column)[row];
  return Number.isNaN(value) ? [] : of.filter((b) => Math.floor(value / b.bit) % 2 === 1).map((b) => b.name);
}

function certainty(p: Process, column: string, row: number): string {
  const word = p.head.words.certainties[p.get(column)[row]] ?? "";
  return word === "exact" ? "" : word.replace("_", " ");
}

/** Why a page has no more about a collection. */
function without(p: Process, store: Store): string {
  if (store.data.follow) return "The server keeps 8 MB of details, those of the latest GCs; of the GCs before, the figures above.";
  const kept = p.header.details.reduce((n, length, i) => (i % 2 === 1 ? n + length : n), 0);
  return `To stay below 6 MB, this page holds pauses, marking, survival and heaps of the ${count(kept)} GCs with the longest pauses only, of ${count(p.rows)}. All about this one:`;
}

/** A name in CamelCase as words. */
function phrase(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** Sizes, and where the page has them, what became of the objects. */
function Generations({ p, row, of }: { p: Process; row: number; of: Record<string, number>[] }): JSX.Element {
  const more = of.length > 0 ? ["in", "survived", "survival", "free after", "budget", "pinned"] : [];
  const rows = Object.keys(names).map((name, i) => {
    const g = of[i];
    const sizes = [p.get(`${name}_before_bytes`)[row], p.get(`${name}_after_bytes`)[row]].map(bytes);
    const rest = g ? [bytes(g.in_bytes), bytes(g.out_bytes), percent(g.survival_centipct / 100), bytes(g.fragmentation_bytes), bytes(g.budget_bytes), bytes(g.pinned_bytes)] : more.map(() => unknown);
    return { name: names[name], figures: [...sizes, ...rest] };
  });
  return <div class="wide"><Divided by="" headings={["before", "after", ...more]} rows={rows} /></div>;
}

/** Figures of the parts of a collection, a row each. */
function Divided({ by, headings, rows }: { by: string; headings: string[]; rows: { name: string; title?: string; figures: string[] }[] }): JSX.Element {
  return (
    <table class="plain">
      <thead><tr><th scope="col">{by}</th>{headings.map((h) => <th scope="col" class="number" key={h}>{h}</th>)}</tr></thead>
      <tbody>{rows.map(({ name, title, figures }) => <tr key={name}><th scope="row" title={title}>{name}</th>{figures.map((v, k) => <td class="number" key={k}>{v}</td>)}</tr>)}</tbody>
    </table>
  );
}

function Marks({ d, p }: { d: Detail; p: Process }): JSX.Element {
  const roots = new Map<string, { us: number; longest: number; bytes: number }>();
  for (const m of d.lists.marks) {
    const root = word(p.head.words, "roots", m.root);
    const r = roots.get(root) ?? { us: 0, longest: 0, bytes: 0 };
    r.us += m.us;
    r.longest = Math.max(r.longest, m.us);
    r.bytes += m.bytes;
    roots.set(root, r);
  }
  const several = new Set(d.lists.marks.map((m) => m.heap)).size > 1;
  const rows = [...roots].sort((a, b) => b[1].us - a[1].us).map(([root, r]) => (
    { name: root, title: explain(p.head, root), figures: [duration(r.us), ...(several ? [duration(r.longest)] : []), bytes(r.bytes)] }
  ));
  return <Divided by="root" headings={several ? ["all heaps", "slowest heap", "marked"] : ["time", "marked"]} rows={rows} />;
}

function Heaps({ d }: { d: Detail }): JSX.Element {
  const marking = new Map<number, number>();
  for (const m of d.lists.marks) marking.set(m.heap, (marking.get(m.heap) ?? 0) + m.us);
  const rows = d.lists.heaps.map((h) => ({ name: String(h.heap), figures: [bytes(h.before_bytes), bytes(h.after_bytes), bytes(h.out_bytes), duration(marking.get(h.heap))] }));
  return <div class="wide"><Divided by="heap" headings={["before", "after", "survived", "marking"]} rows={rows} /></div>;
}
