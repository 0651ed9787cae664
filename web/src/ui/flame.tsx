import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Allocations } from "../data/header";
import type { Palette } from "../charts/palette";
import { bytes, percent } from "../units";

const rowHeight = 20;
const deepest = 60; // rows

interface Tree {
  total: Float64Array; // by node; the last is the root
  own: Float64Array;
  children: number[][];
  root: number;
}

/** Adds up what each frame allocates with those that it calls, of one type or of all, from the bytes of each stack. */
function grow(data: Allocations, amounts: Float64Array, type: number): Tree {
  const root = data.nodes.length;
  const total = new Float64Array(root + 1);
  const own = new Float64Array(root + 1);
  data.stacks.forEach(([of, leaf], i) => {
    if ((type < 0 || of === type) && leaf >= -1) own[leaf < 0 ? root : leaf] += amounts[i];
  });
  total.set(own);
  const children: number[][] = Array.from({ length: root + 1 }, () => []);
  for (let node = root - 1; node >= 0; node--) {
    const caller = data.nodes[node][1];
    const parent = caller < 0 ? root : caller;
    total[parent] += total[node];
    if (total[node] > 0) children[parent].push(node);
  }
  for (const list of children) list.sort((a, b) => total[b] - total[a]);
  return { total, own, children, root };
}

interface Box {
  node: number;
  depth: number;
  left: number; // parts of the width
  width: number;
}

/** The boxes of a node and of what it calls, as far as they can be seen. */
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

/** The stacks that allocate, the outermost frames on top, the wider the more. */
export function Flame({ data, amounts, type, palette }: { data: Allocations; amounts: Float64Array; type: number; palette: Palette }): JSX.Element {
  const tree = useMemo(() => grow(data, amounts, type), [data, amounts, type]);
  const [focus, setFocus] = useState(tree.root);
  const [current, setCurrent] = useState(tree.root);
  const [search, setSearch] = useState("");
  const [width, setWidth] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    setFocus(tree.root);
    setCurrent(tree.root);
  }, [data, type]);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(canvas.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  const shown = focus <= tree.root && tree.total[focus] > 0 ? focus : tree.root;
  const boxes = useMemo(() => layout(tree, shown, width), [tree, shown, width]);
  const depth = Math.max(1, ...boxes.map((b) => b.depth + 1));
  const name = (node: number) => (node === tree.root ? "all" : data.frames[data.nodes[node][0]]);
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
  const parent = (node: number) => (node === tree.root ? -1 : data.nodes[node][1] < 0 ? tree.root : data.nodes[node][1]);
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
      const up = Math.max(0, parent(shown));
      setFocus(parent(shown) < 0 ? tree.root : up);
      setCurrent(parent(shown) < 0 ? tree.root : up);
    } else if (event.key === "Escape") {
      setFocus(tree.root);
      setCurrent(tree.root);
    } else return;
    event.preventDefault();
  };
  const whole = tree.total[tree.root];
  const says = `${name(current)}: ${bytes(tree.total[current])} (${percent((100 * tree.total[current]) / whole)}), itself ${bytes(tree.own[current])}`;
  return (
    <div class="flame">
      <div class="flame-head">
        <input type="search" aria-label="Find methods" placeholder="Find methods" value={search} onInput={(e) => setSearch(e.currentTarget.value)} />
        <button type="button" disabled={shown === tree.root} onClick={() => { setFocus(tree.root); setCurrent(tree.root); }}>Whole graph</button>
      </div>
      <p class="pointed" aria-live="polite">{says}</p>
      <div class="canvas">
        <canvas
          ref={canvas} tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={`Stacks that allocate. ${says}`}
          style={{ width: "100%", height: `${depth * rowHeight}px` }}
          onPointerMove={(e) => {
            const node = at(e);
            if (node >= 0) setCurrent(node);
          }}
          onClick={(e) => {
            const node = at(e);
            if (node >= 0) setFocus(node === shown && node !== tree.root ? Math.max(0, parent(node)) : node);
          }}
          onKeyDown={press}
        />
      </div>
      <p class="hint">Click a method to enlarge it. Keys: arrows move, Enter enlarges, Backspace goes back, Esc shows all.{data.left_out_bytes > 0 && ` Stacks of ${bytes(data.left_out_bytes)} are left out.`}</p>
      <Methods tree={tree} data={data} whole={whole} />
    </div>
  );
}

/** The methods that allocate most, as a table. */
function Methods({ tree, data, whole }: { tree: Tree; data: Allocations; whole: number }): JSX.Element {
  const rows = useMemo(() => {
    const own = new Map<number, number>();
    data.nodes.forEach(([frame], node) => {
      if (tree.own[node] > 0) own.set(frame, (own.get(frame) ?? 0) + tree.own[node]);
    });
    return [...own].sort((a, b) => b[1] - a[1]).slice(0, 20);
  }, [tree]);
  return (
    <details>
      <summary>Methods that allocate most</summary>
      <table class="plain">
        <thead><tr><th scope="col">method</th><th scope="col" class="number">bytes</th><th scope="col" class="number">share</th></tr></thead>
        <tbody>{rows.map(([frame, n]) => <tr key={frame}><td class="code">{data.frames[frame]}</td><td class="number">{bytes(n)}</td><td class="number">{percent((100 * n) / whole)}</td></tr>)}</tbody>
      </table>
    </details>
  );
}

/** A method without its parameters. */
function short(name: string): string {
  const end = name.indexOf("(");
  return end > 0 ? name.slice(0, end) : name;
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

/** Methods of one namespace have one colour; those of .NET are paler. */
function hue(palette: Palette, name: string): string {
  const framework = /^(System|Microsoft|Internal|Interop)\b/.test(name);
  return framework ? `${palette.gen1}60` : `${palette.loh}90`;
}
