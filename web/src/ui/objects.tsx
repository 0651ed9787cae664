import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Objects as Data, Snapshot } from "../data/header";
import { objectColumns } from "../data/objects";
import { useLoaded, useStore, type Store } from "../state/store";
import { bytes, count, moment, percent, plural, unknown } from "../units";
import { usePalette, type Palette } from "../charts/palette";
import { namespaceOf } from "../data/stacks";
import { Icicle, type Tree as Drawn } from "./icicle";
import { Command, Figure, SortHeading, explain } from "./parts";
import { marked } from "./summary";
import { nodeName, TreeGrid } from "./treegrid";

/** What is on the heap, and what holds it. */
export function Objects({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const data = useLoaded(() => p?.header.objects && store.data.objects(p), [p]);
  return data && <Shown store={store} data={data} />;
}

type Column = keyof typeof objectColumns;

/** The heading of a column, with what it means. */
function Heading({ store, column, number = true, kind = "", children }: { store: Store; column: Column; number?: boolean; kind?: string; children?: ComponentChildren }): JSX.Element {
  const { label, term } = objectColumns[column];
  return <th scope="col" class={number ? "number" : kind} title={explain(store.data.head, term)}>{children ?? label}</th>;
}

const figure = (n: number) => (n < 0 ? NaN : n);

/** A figure of a snapshot of which a part is missing is at least what it says. */
const atLeast = (s: Snapshot, text: string) => marked(s.about === "" || text === unknown ? "" : s.about === "about " ? "~" : ">", text);

function Shown({ store, data }: { store: Store; data: Data }): JSX.Element {
  const state = useStore(store, (s) => s.state);
  const palette = usePalette(state.theme);
  const last = data.snapshots.length - 1;
  const at = Math.min(state.snapshot ?? last, last);
  const base = Math.min(state.base ?? 0, last);
  const shown = data.snapshots[at];
  const before = base === at ? null : data.snapshots[base];
  const tree = useMemo(() => treeOf(shown), [shown]);
  const hold = (type: number | null) => {
    store.set({ held: type === state.held ? null : type });
    if (type !== null && type !== state.held) requestAnimationFrame(() => document.getElementById("paths-title")?.scrollIntoView({ block: "center" }));
  };
  const name = (s: Snapshot) => `${s.label}${s.start_us === null ? "" : ` at ${moment(s.start_us)}`}, ${s.about}${bytes(s.bytes)}`;
  const free = shown.generations.reduce((sum, g) => sum + (g.free_bytes ?? 0), 0);
  const freeKnown = shown.generations.some((g) => g.free_bytes !== null);
  return (
    <section class="objects" aria-labelledby="objects-title">
      <header class="section-head">
        <h2 id="objects-title">Objects</h2>
        <p class="hint">Heap snapshot: {name(shown)}.{data.snapshots_left_out > 0 && ` ${plural(data.snapshots_left_out, "snapshot")} between the first and the last ones are left out.`}</p>
        {last > 0 && (
          <div class="choices">
            <label>Snapshot <select value={at} onChange={(e) => store.set({ snapshot: Number(e.currentTarget.value) })}>{data.snapshots.map((s, i) => <option key={i} value={i}>{name(s)}</option>)}</select></label>
            <label>Compared with <select value={base} onChange={(e) => store.set({ base: Number(e.currentTarget.value) })}>{data.snapshots.map((s, i) => <option key={i} value={i}>{i === at ? "none" : name(s)}</option>)}</select></label>
          </div>
        )}
      </header>
      {shown.lacks && <p class="lacks" role="note"><b>Missing:</b> {shown.lacks}</p>}
      {data.suspects.map((s) => (
        <p class={`suspect ${s.confidence === "high" ? "warning" : ""}`} key={s.type}>
          <span class="badge" title="Three snapshots or more show whether the growth goes on.">suspect, confidence {s.confidence}</span> {s.says}. <button type="button" class="show" onClick={() => hold(s.type)}>Paths to {short(data.names[s.type])}</button>
        </p>
      ))}
      {data.unsuspected && <p class="hint">Suspects: {data.unsuspected}.</p>}
      <dl class="figures">
        <Figure label="objects" value={atLeast(shown, count(shown.objects))} note={atLeast(shown, bytes(shown.bytes))} />
        <Figure label="alive" value={bytes(shown.live_bytes)} note={shown.live_objects === null ? "what is missing may hold others" : plural(shown.live_objects, "object")} title={explain(store.data.head, "retained")} />
        <Figure label="held by nothing" value={bytes(shown.live_bytes === null ? null : shown.bytes - shown.live_bytes)} note={shown.live_objects === null ? undefined : plural(shown.objects - shown.live_objects, "object")} />
        <Figure label="free between objects" value={freeKnown ? bytes(free) : unknown} title="Room in the ranges of the generations that no object takes." />
        <Figure label="roots" value={atLeast(shown, count(shown.roots.reduce((n, r) => n + r.roots, 0)))} note={shown.weak_roots > 0 ? `and ${plural(shown.weak_roots, "weak handle")}, which hold nothing` : undefined} />
      </dl>
      {before && <Growth store={store} data={data} before={before} after={shown} hold={hold} />}
      {tree && (
        <div class="pair">
          <Map tree={tree} data={data} shown={shown} palette={palette} />
          <TreeGrid store={store} data={data} shown={shown} before={before} hold={hold} />
        </div>
      )}
      <Types store={store} data={data} shown={shown} hold={hold} />
      {state.held !== null && state.held < data.names.length && <Paths store={store} data={data} shown={shown} type={state.held} />}
      <div class="pair">
        <Roots store={store} shown={shown} />
        {shown.generations.length > 0 && <Generations store={store} shown={shown} />}
      </div>
    </section>
  );
}

/** A name without namespaces. */
function short(name: string): string {
  return name.replace(/\b(?:\w+\.)+(?=\w)/g, "");
}

/** The dominator tree as an icicle draws it; null where it is not known. */
function treeOf(s: Snapshot): Drawn | null {
  if (s.live_bytes === null) return null;
  const root = s.tree.length;
  const total = new Float64Array(root + 1);
  const children: number[][] = Array.from({ length: root + 1 }, () => []);
  const parent = (node: number) => (node === root ? -1 : s.tree[node][1] < 0 ? root : s.tree[node][1]);
  s.tree.forEach(([, , , , , retained], node) => {
    total[node] = retained;
    children[parent(node)].push(node);
  });
  total[root] = s.live_bytes;
  return { total, children, root, parent };
}

/** What retains most, from the roots down. */
function Map({ tree, data, shown, palette }: { tree: Drawn; data: Data; shown: Snapshot; palette: Palette }): JSX.Element {
  const name = (node: number) => (node === tree.root ? "all that is alive" : nodeName(data, shown, node));
  const says = (node: number) => {
    const share = percent((100 * tree.total[node]) / tree.total[tree.root]);
    if (node === tree.root) return `${bytes(tree.total[node])} in all`;
    const [type, , objects, own] = shown.tree[node];
    const above = tree.parent(node);
    const ofAbove = above === tree.root ? "" : `, ${percent((100 * tree.total[node]) / tree.total[above])} of what holds it`;
    const held = `${name(node)}: retains ${bytes(tree.total[node])} (${share} of all${ofAbove})`;
    return type < 0 || objects === 0 ? held : `${held}, ${plural(objects, "object")} of ${bytes(own)}`;
  };
  return (
    <div class="flame retained">
      <h3>Retained bytes</h3>
      <Icicle
        tree={tree} of={[shown]} sum={tree.total[tree.root]} palette={palette} name={name} short={short} says={says} role="icicle"
        group={(node) => (node < tree.root && shown.tree[node][0] >= 0 && shown.tree[node][2] > 0 ? namespaceOf(name(node)) : "roots")} label="What retains most, from the roots down." find="Find types" whole="Whole heap" crumbs
        hint={<>Objects of one type that the same ones hold are one box; what retains less than {percent(100 / data.fold_below)} of what is alive is folded. Click a box to enlarge it. Keys: arrows move, Enter enlarges, Backspace goes back, Esc shows all.</>}
      />
    </div>
  );
}

interface Row {
  name: number;
  objects: number;
  bytes: number;
  retained: number;
  generations: number[];
}

const rowsOf = (s: Snapshot): Row[] => s.types.map(([name, objects, bytes, retained, ...generations]) => ({ name, objects, bytes, retained, generations }));

interface Amount {
  objects: number;
  bytes: number;
}

const shownGrowth = 12;

/** How much more there is of each type than in another snapshot. */
function Growth({ store, data, before, after, hold }: { store: Store; data: Data; before: Snapshot; after: Snapshot; hold(type: number): void }): JSX.Element {
  const [all, setAll] = useState(false);
  const rows = useMemo(() => {
    // By name and module, as the command compares them: the same types of two files have no more in common.
    const byName = new globalThis.Map<string, { name: number; before: Amount; after: Amount }>();
    const add = (s: Snapshot, side: "before" | "after") => {
      for (const [name, objects, bytes] of s.types) {
        const key = `${data.names[name]}|${data.modules[name]}`;
        let sums = byName.get(key);
        if (!sums) byName.set(key, (sums = { name, before: { objects: 0, bytes: 0 }, after: { objects: 0, bytes: 0 } }));
        sums[side].objects += objects;
        sums[side].bytes += bytes;
      }
    };
    add(before, "before");
    add(after, "after");
    return [...byName.values()].map((r) => ({ ...r, bytes: r.after.bytes - r.before.bytes, objects: r.after.objects - r.before.objects }))
      .filter((r) => r.bytes !== 0 || r.objects !== 0).sort((a, b) => b.bytes - a.bytes);
  }, [before, after]);
  const signed = (n: number, text: string) => (n > 0 ? `+${text}` : text);
  const most = rows.reduce((m, r) => Math.max(m, r.before.bytes, r.after.bytes), 1);
  const shown = all ? rows : rows.slice(0, shownGrowth);
  const bar = (s: Snapshot, r: Amount, which: string) => (
    <span class={`amount ${which}`}><i style={{ width: `${(100 * r.bytes) / most}%` }} aria-hidden="true" /><span><span class="hidden">{s.label}: </span>{bytes(r.bytes)}</span></span>
  );
  const sum = after.bytes - before.bytes;
  return (
    <div class="growth">
      <h3>Growth from {before.label} to {after.label}: {signed(sum, bytes(sum))}, {signed(after.objects - before.objects, plural(after.objects - before.objects, "object"))}</h3>
      <p class="legend"><span class="before"><i />{before.label}</span><span class="after"><i />{after.label}</span></p>
      <div class="wide">
        <table class="plain">
          <thead><tr><Heading store={store} column="type" number={false} /><Heading store={store} column="bytes" number={false}>{before.label}, {after.label}</Heading><th scope="col" class="number">grew by</th><Heading store={store} column="objects" /></tr></thead>
          <tbody>
            {shown.map((r) => (
              <tr key={r.name}>
                <td class="code"><button type="button" onClick={() => hold(r.name)}>{data.names[r.name]}</button></td>
                <td class="amounts">{bar(before, r.before, "before")}{bar(after, r.after, "after")}</td>
                <td class="number">{signed(r.bytes, bytes(r.bytes))}</td>
                <td class="number" title={`${count(r.before.objects)} to ${count(r.after.objects)}`}>{signed(r.objects, count(r.objects))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="hint">Nothing grew or shrank.</p>}
      {rows.length > shownGrowth && <button type="button" class="more" onClick={() => setAll(!all)}>{all ? "Fewer" : `All ${count(rows.length)} types that changed`}</button>}
    </div>
  );
}

const shownTypes = 50;
type Sort = "type" | "objects" | "bytes" | "retained_bytes" | "module";

/** The types, to sort and to filter. */
function Types({ store, data, shown, hold }: { store: Store; data: Data; shown: Snapshot; hold(type: number): void }): JSX.Element {
  const held = useStore(store, (s) => s.state.held);
  const [find, setFind] = useState("");
  const [generation, setGeneration] = useState("");
  const known = shown.types.some((t) => t.length > 4);
  const first: Sort = shown.live_bytes === null ? "bytes" : "retained_bytes";
  const [sort, setSort] = useState<Sort>(first);
  const [up, setUp] = useState(false);
  const [all, setAll] = useState(false);
  const module = (r: Row) => data.files[data.modules[r.name]] ?? unknown;
  const modules = data.files.length > 0;
  const rows = useMemo(() => {
    const parts = find.toLowerCase().split("*");
    const matches = (name: string) => {
      let at = 0;
      return parts.every((part) => (at = name.indexOf(part, at)) >= 0 && (at += part.length) >= 0);
    };
    const g = data.generations.indexOf(generation);
    const kept = rowsOf(shown).filter((r) => (find === "" || matches(data.names[r.name].toLowerCase())) && (g < 0 || (r.generations[g] ?? 0) > 0));
    const values: Record<Sort, (r: Row) => number | string> = {
      type: (r) => data.names[r.name], objects: (r) => r.objects, bytes: (r) => (g < 0 ? r.bytes : r.generations[g]), retained_bytes: (r) => r.retained, module,
    };
    const by = values[sort];
    const sign = up ? 1 : -1;
    return kept.sort((a, b) => (by(a) < by(b) ? -sign : by(a) > by(b) ? sign : b.bytes - a.bytes));
  }, [shown, find, generation, sort, up]);
  const visible = all ? rows : rows.slice(0, shownTypes);
  const sorted = (column: Sort, number = true) => {
    const by = () => {
      setUp(sort === column ? !up : !number);
      setSort(column);
    };
    const { label, term } = objectColumns[column];
    return <SortHeading label={label} direction={sort === column ? (up ? "ascending" : "descending") : null} kind={`${number ? "number" : ""} ${column}`} title={explain(store.data.head, term)} sort={by} />;
  };
  const live = shown.live_bytes ?? NaN;
  return (
    <div class="of-types">
      <header class="section-head">
        <h3>Types</h3>
        <p class="hint">{count(rows.length)} of {count(shown.types.length)}{shown.others.types > 0 && `; ${plural(shown.others.types, "smaller one")} of ${bytes(shown.others.bytes)} left out`}. Click a type for the paths to its objects.</p>
        <div class="choices">
          <input type="search" aria-label="Only types whose names contain" placeholder="Shop.*Cache" value={find} onInput={(e) => setFind(e.currentTarget.value)} />
          {known && (
            <label>{objectColumns.generation.label} <select value={generation} onChange={(e) => setGeneration(e.currentTarget.value)}><option value="">all</option>{data.generations.map((g) => <option key={g} value={g}>{g}</option>)}</select></label>
          )}
        </div>
      </header>
      <div class="sheet">
        <table class="plain">
          <thead><tr>{sorted("type", false)}{sorted("objects")}{sorted("bytes")}{sorted("retained_bytes")}{known && <Heading store={store} column="generation" number={false} kind="ages" />}{modules && sorted("module", false)}</tr></thead>
          <tbody>
            {visible.map((r) => {
              const g = data.generations.indexOf(generation);
              return (
                <tr key={r.name} class={r.name === held ? "chosen" : ""}>
                  <td class="code"><button type="button" aria-pressed={r.name === held} onClick={() => hold(r.name)}>{data.names[r.name]}</button></td>
                  <td class="number objects">{atLeast(shown, count(r.objects))}</td>
                  <td class="number">{atLeast(shown, bytes(g < 0 ? r.bytes : r.generations[g]))}</td>
                  <td class="number bar" style={{ "--share": `${(100 * figure(r.retained)) / live || 0}%` }}>{bytes(figure(r.retained))}</td>
                  {known && <td class="ages"><Ages data={data} row={r} /></td>}
                  {modules && <td class="module">{module(r)}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows.length > shownTypes && <button type="button" class="more" onClick={() => setAll(!all)}>{all ? "Fewer" : `All ${count(rows.length)} types`}</button>}
      {rows.length === 0 && <p class="hint">No type matches.</p>}
    </div>
  );
}

/** In which generations the objects of a type are. */
function Ages({ data, row }: { data: Data; row: Row }): JSX.Element {
  const parts = row.generations.map((n, i) => ({ n, name: data.generations[i] })).filter((p) => p.n > 0);
  const most = parts.reduce((a, b) => (b.n > a.n ? b : a), { n: 0, name: unknown });
  return (
    <span class="age" title={parts.map((p) => `${p.name} ${bytes(p.n)}`).join(", ")}>
      <span class="stack" aria-hidden="true">{parts.map((p) => <i key={p.name} class={p.name} style={{ flexGrow: p.n }} />)}</span>
      {most.name}{most.n < row.bytes && ` ${percent(Math.min(99.9, (100 * most.n) / row.bytes))}`}
    </span>
  );
}

/** The shortest ways from roots to the objects of a type. */
function Paths({ store, data, shown, type }: { store: Store; data: Data; shown: Snapshot; type: number }): JSX.Element {
  const paths = useMemo(() => shown.paths.filter((p) => p[p.length - 1] === type), [shown, type]);
  const row = shown.types.find((t) => t[0] === type);
  const rest = (row?.[1] ?? 0) - paths.reduce((n, p) => n + p[0], 0);
  const name = data.names[type];
  return (
    <div class="paths" aria-live="polite">
      <header class="section-head">
        <h3 id="paths-title">Paths from roots to <span class="code">{name}</span></h3>
        <button type="button" onClick={() => store.set({ held: null })}>Close</button>
      </header>
      {paths.length > 0 && (
        <div class="wide">
          <table class="plain">
            <thead><tr><Heading store={store} column="objects" /><Heading store={store} column="bytes" /><Heading store={store} column="retained_bytes" /><Heading store={store} column="path" number={false} /></tr></thead>
            <tbody>
              {paths.map(([objects, own, retained, ...steps], i) => (
                <tr key={i}>
                  <td class="number">{count(objects)}</td><td class="number">{bytes(own)}</td><td class="number">{bytes(figure(retained))}</td>
                  <td class="code way">{steps.map((step, k) => <span key={k}>{k > 0 && " → "}{step < 0 ? "…" : data.names[step]}</span>)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!row && <p class="hint">This snapshot has no such object.</p>}
      {rest > 0 && (
        <>
          <p class="hint">
            {shown.live_bytes === null ? "What holds these objects is unknown, because a part of the snapshot is missing."
              : `${plural(rest, "object")} ${paths.length > 0 ? "more " : ""}${rest === 1 ? "is" : "are"} on other paths, or nothing holds ${rest === 1 ? "it" : "them"}.`}
          </p>
          {shown.live_bytes !== null && <Command text={`gctrail objects --paths '${name}' --top 0 ${store.process?.trace.name ?? "FILE"}`} />}
        </>
      )}
    </div>
  );
}

function Roots({ store, shown }: { store: Store; shown: Snapshot }): JSX.Element {
  return (
    <div>
      <h3>Roots</h3>
      <table class="plain">
        <thead><tr><Heading store={store} column="root" number={false} /><Heading store={store} column="roots" /><Heading store={store} column="retained_bytes" /></tr></thead>
        <tbody>
          {shown.roots.map((r) => (
            <tr key={r.root}>
              <td>{r.root}</td><td class="number">{r.root === "several" ? unknown : atLeast(shown, count(r.roots))}</td>
              <td class="number bar" style={{ "--share": `${(100 * (r.retained_bytes ?? 0)) / (shown.live_bytes ?? 1)}%` }}>{bytes(r.retained_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Generations({ store, shown }: { store: Store; shown: Snapshot }): JSX.Element {
  return (
    <div>
      <h3>Generations</h3>
      <table class="plain">
        <thead><tr><Heading store={store} column="generation" number={false} /><Heading store={store} column="objects" /><Heading store={store} column="bytes" /><th scope="col" class="number" title={explain(store.data.head, "free_bytes")}>free between</th></tr></thead>
        <tbody>
          {shown.generations.map((g) => (
            <tr key={g.name}>
              <td title={explain(store.data.head, g.name)}>{g.name}</td><td class="number">{atLeast(shown, count(g.objects))}</td><td class="number">{atLeast(shown, bytes(g.bytes))}</td><td class="number">{bytes(g.free_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
