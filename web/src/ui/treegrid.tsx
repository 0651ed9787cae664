import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Objects as Data, Snapshot } from "../data/header";
import { objectColumns } from "../data/objects";
import type { Store } from "../state/store";
import { bytes, count, plural, unknown } from "../units";
import { explain } from "./parts";
import { marked } from "./summary";

/** The name of a node of the dominator tree. */
export function nodeName(data: Data, s: Snapshot, node: number): string {
  const [name, , objects] = s.tree[node];
  return name < 0 ? plural(objects, "smaller node") : data.names[name];
}

interface Line {
  node: number;
  level: number;
  place: number; // among those of the same parent
  of: number;
  open: boolean | null; // null where there is nothing below
}

/** The part of what is alive from which nodes are open at the start. */
const large = 0.1;

/** The dominator tree, to open level by level. */
export function TreeGrid({ store, data, shown, before, hold }: { store: Store; data: Data; shown: Snapshot; before: Snapshot | null; hold(type: number): void }): JSX.Element {
  const below = useMemo(() => {
    const lists: number[][] = Array.from({ length: shown.tree.length + 1 }, () => []);
    shown.tree.forEach(([, parent], node) => lists[parent + 1].push(node));
    return lists;
  }, [shown]);
  const whole = shown.live_bytes ?? 1;
  const [toggled, setToggled] = useState<{ of: Snapshot; nodes: Set<number> }>({ of: shown, nodes: new Set() });
  const nodes = toggled.of === shown ? toggled.nodes : new Set<number>();
  const [focus, setFocus] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const grew = useMemo(() => (before ? growth(shown, before, data.fold_below) : null), [shown, before]);

  const lines: Line[] = [];
  const visit = (parent: number, level: number) => {
    below[parent + 1].forEach((node, place) => {
      const has = below[node + 1].length > 0;
      const open = has ? shown.tree[node][5] >= large * whole !== nodes.has(node) : null;
      lines.push({ node, level, place, of: below[parent + 1].length, open });
      if (open) visit(node, level + 1);
    });
  };
  visit(-1, 1);
  const current = Math.min(focus, lines.length - 1);
  const toggle = (node: number) => {
    const now = new Set(nodes);
    if (!now.delete(node)) now.add(node);
    setToggled({ of: shown, nodes: now });
  };
  const go = (index: number) => {
    index = Math.max(0, Math.min(lines.length - 1, index));
    setFocus(index);
    const row = body.current?.rows[index];
    row?.focus();
    row?.scrollIntoView({ block: "nearest" });
  };
  const onKey = (event: KeyboardEvent) => {
    const line = lines[current];
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(current + 1),
      ArrowUp: () => go(current - 1),
      ArrowRight: () => (line.open === false ? toggle(line.node) : line.open && go(current + 1)),
      ArrowLeft: () => (line.open ? toggle(line.node) : go(lines.findIndex((l) => l.node === shown.tree[line.node][1]))),
      Home: () => go(0),
      End: () => go(lines.length - 1),
      Enter: () => named(line.node) && hold(shown.tree[line.node][0]),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  /** Whether a node is the objects of a type. */
  const named = (node: number) => shown.tree[node][0] >= 0 && shown.tree[node][2] > 0;
  const heading = (column: keyof typeof objectColumns, label?: string) => <th scope="col" class={`number ${column}`} title={explain(store.data.head, objectColumns[column].term)}>{label ?? objectColumns[column].label}</th>;
  return (
    <div class="tree">
      <h3>What holds what</h3>
      <p class="hint">Without the objects of a row, what it retains would be free. Keys: ↑ ↓ move, → opens, ← closes, Enter shows paths.</p>
      <div class="sheet">
        <table class="plain" role="treegrid" aria-label="Dominator tree">
          <thead><tr role="row"><th scope="col" title={explain(store.data.head, objectColumns.type.term)}>{objectColumns.type.label}</th>{heading("retained_bytes")}{grew && <th scope="col" class="number" title={`Since ${before!.label}, by the types on the way from the roots`}>grew by</th>}{heading("objects")}{heading("bytes")}</tr></thead>
          <tbody ref={body} onKeyDown={onKey}>
            {lines.map(({ node, level, place, of, open }, i) => {
              const [type, , objects, own, , retained] = shown.tree[node];
              return (
                <tr
                  key={node} role="row" aria-level={level} aria-posinset={place + 1} aria-setsize={of} aria-expanded={open ?? undefined} tabIndex={i === current ? 0 : -1}
                  onFocus={() => setFocus(i)} onClick={() => open !== null && toggle(node)}
                >
                  <td role="gridcell" class="code"><span class="name" style={{ "--level": Math.min(level, 12) }}><span class="twist" aria-hidden="true">{open === null ? "" : open ? "▾" : "▸"}</span>{named(node) ? <button type="button" tabIndex={-1} onClick={(e) => { e.stopPropagation(); hold(type); }}>{nodeName(data, shown, node)}</button> : nodeName(data, shown, node)}</span></td>
                  <td role="gridcell" class="number bar" style={{ "--share": `${(100 * retained) / whole}%` }}>{bytes(retained)}</td>
                  {grew && <td role="gridcell" class="number">{grew[node]}</td>}
                  <td role="gridcell" class="number objects">{type < 0 || objects === 0 ? "" : count(objects)}</td>
                  <td role="gridcell" class="number bytes">{type < 0 || objects === 0 ? "" : bytes(own)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** By how much the nodes of a tree grew, which are the same as others by the names on the way. */
function growth(after: Snapshot, before: Snapshot, foldBelow: number): string[] {
  if (before.live_bytes === null) return after.tree.map(() => unknown);
  const earlier = new Map<string, number>();
  const folded = new Set<number>(); // nodes below which others are folded
  before.tree.forEach(([name, parent], node) => (name < 0 ? folded.add(parent) : earlier.set(`${parent} ${name}`, node)));
  const same: (number | null)[] = []; // the earlier node; null where there is none
  return after.tree.map(([name, parent, , , , retained], node) => {
    const above = parent < 0 ? -1 : same[parent];
    const found = above === null ? undefined : earlier.get(`${above} ${name}`);
    same[node] = found ?? null;
    if (name < 0) return "";
    const signed = (n: number) => `${n > 0 ? "+" : ""}${bytes(n)}`;
    if (found !== undefined) return signed(retained - before.tree[found][5]);
    // A node that is not there may be folded: it had less than the least that is shown.
    const least = above !== null && folded.has(above) ? retained - Math.max(1, Math.floor(before.live_bytes! / foldBelow)) : retained;
    return least === retained ? signed(retained) : least > 0 ? marked(">", signed(least)) : unknown;
  });
}
