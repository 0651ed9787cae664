import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { scale } from "../charts/chart";
import { printed, type Palette } from "../charts/palette";
import { isPrinting, printWidth, usePrinting } from "../charts/printing";
import { isFramework, namespaceOf, nativeCode } from "../data/stacks";
import { percent, plural } from "../units";

const rowHeight = 20 * scale;
const font = `${12 * scale}px system-ui, sans-serif`;
const deepest = 60; // rows

/** What an icicle draws: nodes by their numbers, of which the root is the last. */
export interface Tree {
  total: Float64Array; // with the nodes below
  children: number[][]; // the largest first
  root: number;
  parent(node: number): number; // -1 for the root
}

interface Box {
  node: number;
  depth: number;
  left: number; // parts of the width
  width: number;
}

/** The boxes of a node and of those below it, as far as they can be seen. */
function layout(tree: Tree, focus: number, pixels: number): Box[] {
  const boxes: Box[] = [];
  const whole = tree.total[focus];
  if (!(whole > 0)) return boxes;
  const visit = (node: number, depth: number, left: number) => {
    const width = tree.total[node] / whole;
    if (width * pixels < 1 || depth >= deepest) return;
    boxes.push({ node, depth, left, width });
    for (const child of tree.children[node]) {
      visit(child, depth + 1, left);
      left += tree.total[child] / whole;
    }
  };
  visit(focus, 0, 0);
  return boxes;
}

/** The nodes that match, the largest first, without those below another, and their sum. */
function found(tree: Tree, matches: (node: number) => boolean): { nodes: number[]; sum: number } {
  const nodes: number[] = [];
  const left = [...tree.children[tree.root]];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (matches(node)) nodes.push(node);
    else left.push(...tree.children[node]);
  }
  nodes.sort((a, b) => tree.total[b] - tree.total[a]);
  return { nodes, sum: nodes.reduce((sum, node) => sum + tree.total[node], 0) };
}

interface Props {
  tree: Tree;
  of: unknown[]; // the whole tree is shown again where these change
  sum: number; // of which the shares are
  palette: Palette;
  name(node: number): string;
  short?(name: string): string; // what fits in a box
  group?(node: number): string; // whose nodes have a colour; the namespace otherwise
  says(node: number): string;
  role: string;
  label: string;
  find: string;
  whole: string;
  crumbs?: boolean; // leads from the root to the node that is enlarged
  more?(node: number): ComponentChildren; // beside the search, about the node that is enlarged
  hint: ComponentChildren;
}

/** A tree whose nodes lie below one another, the wider the more. */
export function Icicle({ tree, of, sum, palette, name, short = (n) => n, group, says, role, label, find, whole, crumbs, more, hint }: Props): JSX.Element {
  const [focus, setFocus] = useState(tree.root);
  const [current, setCurrent] = useState(tree.root);
  const [search, setSearch] = useState("");
  const [width, setWidth] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    setFocus(tree.root);
    setCurrent(tree.root);
  }, of);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => isPrinting() || setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(canvas.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  const shown = focus <= tree.root && tree.total[focus] > 0 ? focus : tree.root;
  const boxes = useMemo(() => layout(tree, shown, width), [tree, shown, width]);
  const depth = Math.max(1, ...boxes.map((b) => b.depth + 1));
  const wanted = search.trim().toLowerCase();
  const matches = (node: number) => wanted !== "" && node !== tree.root && name(node).toLowerCase().includes(wanted);
  const hits = useMemo(() => (wanted === "" ? null : found(tree, matches)), [tree, wanted]);
  const colours = useMemo(() => coloursOf(tree, group ?? ((node) => namespaceOf(name(node)))), [tree]);

  const paint = (boxes: Box[], palette: Palette, width: number) => {
    const c = canvas.current;
    if (!c || width === 0) return;
    c.width = width * devicePixelRatio;
    c.height = depth * rowHeight * devicePixelRatio;
    const ctx = c.getContext("2d")!;
    ctx.scale(devicePixelRatio, devicePixelRatio);
    ctx.font = font;
    ctx.textBaseline = "middle";
    for (const b of boxes) {
      const x = b.left * width;
      const w = b.width * width;
      const y = b.depth * rowHeight;
      const hit = matches(b.node);
      const [colour, share] = colours.of(b.node);
      ctx.fillStyle = hit ? palette.accent : b.node === tree.root || wanted !== "" ? `${palette.faded}80` : palette[colour] + Math.round(2.55 * share).toString(16);
      ctx.fillRect(x, y, Math.max(0.5, w - 1), rowHeight - 1);
      if (b.node === current) {
        ctx.strokeStyle = palette.text;
        ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 3), rowHeight - 3);
      }
      if (w <= 30) continue;
      ctx.fillStyle = hit ? palette["on-accent"] : palette.text;
      const part = percent((100 * tree.total[b.node]) / sum);
      const rest = w - 16 - ctx.measureText(part).width;
      const text = short(name(b.node));
      const both = rest > 90 && ctx.measureText(text).width < rest;
      ctx.fillText(fit(ctx, text, both ? rest : w - 8), x + 4, y + rowHeight / 2);
      if (both) ctx.fillText(part, x + w - 5 - ctx.measureText(part).width, y + rowHeight / 2);
    }
  };
  useEffect(() => paint(boxes, palette, width), [boxes, palette, current, wanted, width, sum]);
  usePrinting((begins) => (begins ? paint(layout(tree, shown, printWidth), printed(), printWidth) : paint(boxes, palette, width)));

  const at = (event: MouseEvent): number => {
    const box = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    const row = Math.floor((event.clientY - box.top) / rowHeight);
    return boxes.find((b) => b.depth === row && x >= b.left && x < b.left + b.width)?.node ?? -1;
  };
  const { parent } = tree;
  const enlarge = (node: number) => {
    setFocus(node);
    setCurrent(node);
  };
  const press = (event: KeyboardEvent) => {
    const siblings = parent(current) < 0 ? [current] : tree.children[parent(current)];
    const place = siblings.indexOf(current);
    const moves: Record<string, () => number> = {
      ArrowDown: () => tree.children[current][0] ?? current,
      ArrowUp: () => (current === shown ? current : parent(current)),
      ArrowRight: () => siblings[Math.min(siblings.length - 1, place + 1)],
      ArrowLeft: () => siblings[Math.max(0, place - 1)],
      Home: () => shown,
    };
    if (moves[event.key]) setCurrent(current === shown && event.key.startsWith("Arrow") && event.key !== "ArrowDown" ? current : moves[event.key]());
    else if (event.key === "Enter" || event.key === " ") setFocus(current);
    else if (event.key === "Backspace") {
      enlarge(parent(shown) < 0 ? tree.root : parent(shown));
    } else if (event.key === "Escape") enlarge(tree.root);
    else return;
    event.preventDefault();
  };
  /** Enlarges the next of the nodes that are found, or the one before. */
  const next = (by: number) => {
    if (!hits || hits.nodes.length === 0) return;
    const n = hits.nodes.length;
    const at = hits.nodes.indexOf(shown);
    enlarge(hits.nodes[at < 0 ? 0 : (at + by + n) % n]);
  };
  const way: number[] = [];
  for (let node = shown; node >= 0; node = parent(node)) way.unshift(node);
  return (
    <>
      <div class="flame-head">
        <input
          type="search" aria-label={find} placeholder={find} value={search} spellcheck={false} onInput={(e) => setSearch(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") next(e.shiftKey ? -1 : 1);
            if (e.key === "Escape") setSearch("");
          }}
        />
        <button type="button" disabled={shown === tree.root} onClick={() => enlarge(tree.root)}>{whole}</button>
        {more?.(shown)}
      </div>
      {hits && <p class="found" role="status">{hits.nodes.length === 0 ? "Nothing matches." : <><b>{percent((100 * hits.sum) / sum)}</b> of all in {plural(hits.nodes.length, "match", "matches")}. Enter enlarges the next one, Shift+Enter the one before.</>}</p>}
      {crumbs && (
        <nav class="crumbs" aria-label="Enlarged">
          <ol>{way.length > 1 && way.map((node) => <li key={node}><button type="button" aria-current={node === shown ? "true" : undefined} onClick={() => enlarge(node)}>{name(node)}</button></li>)}</ol>
        </nav>
      )}
      <p class="pointed" aria-live="polite">{says(current)}</p>
      <div class="canvas">
        <canvas
          ref={canvas} tabIndex={0} role="application" aria-roledescription={role} aria-label={`${label} ${says(current)}`}
          style={{ width: "100%", height: `${depth * rowHeight}px` }}
          onPointerMove={(e) => {
            const node = at(e);
            if (node >= 0) setCurrent(node);
          }}
          onPointerLeave={() => setCurrent(shown)}
          onClick={(e) => {
            const node = at(e);
            if (node >= 0) setFocus(node === shown && node !== tree.root ? parent(node) : node);
          }}
          onKeyDown={press}
        />
      </div>
      <ul class="legend" aria-label="Colours, by namespace">
        {colours.named.map(({ label, fill: [name, share] }) => <li key={label}><i style={{ background: `color-mix(in srgb, var(--${name}) ${share}%, var(--surface))` }} />{label}</li>)}
      </ul>
      <p class="hint">{hint}</p>
    </>
  );
}

function fit(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (ctx.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ctx.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? text.slice(0, low) + "…" : "";
}

/** A colour of the palette, and how much of it there is, in percent. */
type Fill = [name: "loh" | "gen1" | "background" | "gen0" | "gen2" | "poh", share: number];

const fills: Fill[] = [["loh", 56], ["gen1", 44], ["background", 44], ["gen0", 44], ["gen2", 44]];
const grey: Fill = ["poh", 31];
const native: Fill = ["poh", 60];

/** Colours of namespaces: .NET's own and native code are grey, and the largest others have one each. */
function coloursOf(tree: Tree, group: (node: number) => string): { named: { label: string; fill: Fill }[]; of(node: number): Fill } {
  const own = new Map<string, number>();
  let framework = false;
  let unnamed = false;
  tree.total.forEach((total, node) => {
    if (node === tree.root || !(total > 0)) return;
    const namespace = group(node);
    if (isFramework(namespace)) framework = true;
    else if (namespace === nativeCode) unnamed = true;
    else own.set(namespace, Math.max(total, own.get(namespace) ?? 0));
  });
  const order = [...own].sort((a, b) => b[1] - a[1]).map(([namespace]) => namespace);
  const last = fills.length - 1; // for all others
  const named = order.slice(0, last).map((label, i) => ({ label, fill: fills[i] }));
  if (order.length > last) named.push({ label: order.length === last + 1 ? order[last] : plural(order.length - last, "other namespace"), fill: fills[last] });
  if (framework) named.push({ label: ".NET", fill: grey });
  if (unnamed) named.push({ label: nativeCode, fill: native });
  const of = (node: number) => {
    const namespace = group(node);
    return isFramework(namespace) ? grey : namespace === nativeCode ? native : fills[Math.min(last, Math.max(0, order.indexOf(namespace)))];
  };
  return { named, of };
}
