// What allocates, as trees of methods.

import type { Allocations } from "./header";

/** A tree of methods. Nodes are numbers, of which the root is the last. */
export interface Calls {
  total: Float64Array; // bytes, with the nodes below
  own: Float64Array;
  frame: Int32Array; // of each node but the root
  children: number[][]; // the largest first
  root: number;
  parent(node: number): number; // -1 for the root
}

/** What of the stacks a tree shows. */
export interface View {
  /** The methods that allocate are on top, and their callers below. */
  inverted: boolean;
  /** All calls of one method as if they were one; -1 for all methods. */
  only: number;
}

/** Adds up what each method allocates with those that it calls, of one type or of all, from the bytes of each stack. */
export function grow(data: Allocations, amounts: Float64Array, type: number, { inverted, only }: View): Calls {
  const root = data.nodes.length;
  const own = new Float64Array(root + 1); // by the innermost node
  data.stacks.forEach(([of, leaf], i) => {
    if ((type < 0 || of === type) && leaf >= -1) own[leaf < 0 ? root : leaf] += amounts[i];
  });
  if (!inverted && only < 0) {
    return linked(own, Int32Array.from(data.nodes, ([frame]) => frame), Int32Array.from(data.nodes, ([, caller]) => caller));
  }
  const merged = new Merged(data.frames.length);
  for (let leaf = 0; leaf < root; leaf++) {
    if (!(own[leaf] > 0)) continue;
    let path: number[] = []; // the innermost method first
    for (let node = leaf; node >= 0; node = data.nodes[node][1]) path.push(data.nodes[node][0]);
    if (only >= 0) {
      const outermost = path.lastIndexOf(only);
      if (outermost < 0) continue;
      path = inverted ? path.slice(outermost) : path.slice(0, outermost + 1);
    }
    merged.add(inverted ? path : path.reverse(), own[leaf]);
  }
  return merged.linked(only < 0 ? own[root] : 0);
}

/** Paths of methods that are put together where they begin alike. */
class Merged {
  private readonly frame: number[] = [];
  private readonly caller: number[] = [];
  private readonly own: number[] = [];
  private readonly places = new Map<number, number>();

  constructor(private readonly frames: number) {}

  add(path: number[], bytes: number): void {
    let at = -1;
    for (const frame of path) {
      const key = (at + 1) * this.frames + frame;
      let next = this.places.get(key);
      if (next === undefined) {
        next = this.frame.length;
        this.places.set(key, next);
        this.frame.push(frame);
        this.caller.push(at);
        this.own.push(0);
      }
      at = next;
    }
    if (at >= 0) this.own[at] += bytes;
  }

  linked(unknown: number): Calls {
    return linked(Float64Array.from([...this.own, unknown]), Int32Array.from(this.frame), Int32Array.from(this.caller));
  }
}

/** A tree of nodes, each of which comes after the one above it. */
function linked(own: Float64Array, frame: Int32Array, above: Int32Array): Calls {
  const root = frame.length;
  const parent = (node: number) => (node === root ? -1 : above[node] < 0 ? root : above[node]);
  const total = own.slice();
  const children: number[][] = Array.from({ length: root + 1 }, () => []);
  for (let node = root - 1; node >= 0; node--) {
    total[parent(node)] += total[node];
    if (total[node] > 0) children[parent(node)].push(node);
  }
  for (const list of children) list.sort((a, b) => total[b] - total[a]);
  return { total, own, frame, children, root, parent };
}

/** What a method allocates itself, and with those that it calls. */
export interface Method {
  frame: number;
  own: number;
  total: number;
}

/** The methods of a tree, those first that allocate most themselves. Recursive calls count once. */
export function methodsOf(tree: Calls): Method[] {
  const all = new Map<number, Method>();
  const open = new Set<number>();
  const visit = (node: number) => {
    const frame = tree.frame[node];
    let method = all.get(frame);
    if (!method) all.set(frame, (method = { frame, own: 0, total: 0 }));
    method.own += tree.own[node];
    const first = !open.has(frame);
    if (first) {
      method.total += tree.total[node];
      open.add(frame);
    }
    for (const child of tree.children[node]) visit(child);
    if (first) open.delete(frame);
  };
  for (const node of tree.children[tree.root]) visit(node);
  return [...all.values()].sort((a, b) => b.own - a.own || b.total - a.total);
}

/** Stands for the namespace of code that is not managed, or has no name. */
export const nativeCode = "native code";

/** The namespace of a method or a type, as far as its first two parts; of what has none, the type. */
export function namespaceOf(name: string): string {
  if (name === "?" || /!0x[\da-f]+$/.test(name)) return nativeCode;
  const parts = name.replace(/[([<`+].*$/s, "").split(".");
  const types = parts.length - (name.includes("(") ? 2 : 1); // the last parts are the type and the method
  return parts.slice(0, Math.max(1, Math.min(2, types))).join(".");
}

/** Reports whether a namespace is one of .NET's own. */
export function isFramework(namespace: string): boolean {
  return /^(System|Microsoft|Internal|Interop|dynamicClass)\b/.test(namespace);
}
