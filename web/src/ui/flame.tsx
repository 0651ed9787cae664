import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Allocations } from "../data/header";
import type { Palette } from "../charts/palette";
import { bytes, percent } from "../units";
import { Icicle, type Tree as Drawn } from "./icicle";

interface Tree extends Drawn {
  own: Float64Array; // by node
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
  const parent = (node: number) => (node === root ? -1 : data.nodes[node][1] < 0 ? root : data.nodes[node][1]);
  return { total, own, children, root, parent };
}

/** The stacks that allocate, the outermost frames on top, the wider the more. */
export function Flame({ data, amounts, type, palette }: { data: Allocations; amounts: Float64Array; type: number; palette: Palette }): JSX.Element {
  const tree = useMemo(() => grow(data, amounts, type), [data, amounts, type]);
  const name = (node: number) => (node === tree.root ? "all" : data.frames[data.nodes[node][0]]);
  const whole = tree.total[tree.root];
  return (
    <div class="flame">
      <Icicle
        tree={tree} of={[data, type]} palette={palette} name={name} short={short} role="flame graph" label="Stacks that allocate." find="Find methods" whole="Whole graph"
        says={(node) => `${name(node)}: ${bytes(tree.total[node])} (${percent((100 * tree.total[node]) / whole)}), itself ${bytes(tree.own[node])}`}
        hint={<>Click a method to enlarge it. Keys: arrows move, Enter enlarges, Backspace goes back, Esc shows all.{data.left_out_bytes > 0 && ` Stacks of ${bytes(data.left_out_bytes)} are left out.`}</>}
      />
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
