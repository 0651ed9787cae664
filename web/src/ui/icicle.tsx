import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Palette } from "../charts/palette";

const rowHeight = 20;
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

interface Props {
  tree: Tree;
  of: unknown[]; // the whole tree is shown again where these change
  palette: Palette;
  name(node: number): string;
  short?(name: string): string; // what fits in a box
  says(node: number): string;
  role: string;
  label: string;
  find: string;
  whole: string;
  crumbs?: boolean; // leads from the root to the node that is enlarged
  hint: ComponentChildren;
}

/** A tree whose nodes lie below one another, the wider the more. */
export function Icicle({ tree, of, palette, name, short = (n) => n, says, role, label, find, whole, crumbs, hint }: Props): JSX.Element {
  const [focus, setFocus] = useState(tree.root);
  const [current, setCurrent] = useState(tree.root);
  const [search, setSearch] = useState("");
  const [width, setWidth] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    setFocus(tree.root);
    setCurrent(tree.root);
  }, of);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(canvas.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  const shown = focus <= tree.root && tree.total[focus] > 0 ? focus : tree.root;
  const boxes = useMemo(() => layout(tree, shown, width), [tree, shown, width]);
  const depth = Math.max(1, ...boxes.map((b) => b.depth + 1));
  const matches = (node: number) => search !== "" && name(node).toLowerCase().includes(search.toLowerCase());

  useEffect(() => {
    const c = canvas.current;
    if (!c || width === 0) return;
    const scale = devicePixelRatio;
    c.width = width * scale;
    c.height = depth * rowHeight * scale;
    const ctx = c.getContext("2d")!;
    ctx.scale(scale, scale);
    ctx.font = "12px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    for (const b of boxes) {
      const x = b.left * width;
      const w = b.width * width;
      const y = b.depth * rowHeight;
      ctx.globalAlpha = search !== "" && !matches(b.node) ? 0.25 : 1;
      ctx.fillStyle = matches(b.node) ? palette.gen2 : b.node === tree.root ? palette.faded : hue(palette, name(b.node));
      ctx.fillRect(x, y, Math.max(0.5, w - 1), rowHeight - 1);
      if (b.node === current) {
        ctx.strokeStyle = palette.text;
        ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 3), rowHeight - 3);
      }
      if (w > 30) {
        ctx.fillStyle = palette.text;
        ctx.fillText(fit(ctx, short(name(b.node)), w - 8), x + 4, y + rowHeight / 2);
      }
    }
    ctx.globalAlpha = 1;
  }, [boxes, palette, current, search, width]);

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
  const way: number[] = [];
  for (let node = shown; node >= 0; node = parent(node)) way.unshift(node);
  return (
    <>
      <div class="flame-head">
        <input type="search" aria-label={find} placeholder={find} value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
        <button type="button" disabled={shown === tree.root} onClick={() => enlarge(tree.root)}>{whole}</button>
      </div>
      {crumbs && (
        <nav class="crumbs" aria-label="Enlarged">
          <ol>{way.map((node) => <li key={node}><button type="button" aria-current={node === shown ? "true" : undefined} onClick={() => enlarge(node)}>{name(node)}</button></li>)}</ol>
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
          onClick={(e) => {
            const node = at(e);
            if (node >= 0) setFocus(node === shown && node !== tree.root ? parent(node) : node);
          }}
          onKeyDown={press}
        />
      </div>
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

/** Names of .NET are in one colour, all others in another. */
function hue(palette: Palette, name: string): string {
  const framework = /^(System|Microsoft|Internal|Interop)\b/.test(name);
  return framework ? `${palette.gen1}60` : `${palette.loh}90`;
}
