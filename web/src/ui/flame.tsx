import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Allocations } from "../data/header";
import { grow, methodsOf, type Calls, type View } from "../data/stacks";
import type { Palette } from "../charts/palette";
import { bytes, percent } from "../units";
import { Icicle } from "./icicle";

const all: View = { inverted: false, only: -1 };

/** The stacks that allocate, the outermost frames on top, the wider the more; or turned round, or of one method. */
export function Flame({ data, amounts, type, palette }: { data: Allocations; amounts: Float64Array; type: number; palette: Palette }): JSX.Element {
  const [view, setView] = useState<View>(all);
  const whole = useMemo(() => grow(data, amounts, type, all), [data, amounts, type]);
  const tree = useMemo(() => (view === all ? whole : grow(data, amounts, type, view)), [whole, view]);
  const sum = whole.total[whole.root];
  const name = (node: number) => (node === tree.root ? (view.only < 0 ? "all" : `calls of ${short(data.frames[view.only])}`) : data.frames[tree.frame[node]]);
  const says = (node: number) => {
    if (node === tree.root && view.only < 0) return `${bytes(sum)} in all`;
    const share = (of: number) => percent((100 * tree.total[node]) / of);
    const parent = tree.parent(node);
    const ofParent = parent >= 0 && parent !== tree.root ? `, ${share(tree.total[parent])} of the method above` : "";
    const itself = node === tree.root || view.inverted ? "" : `, itself ${bytes(tree.own[node])}`;
    return `${name(node)}: ${bytes(tree.total[node])} (${share(sum)} of all${ofParent})${itself}`;
  };
  return (
    <div class="flame">
      <Icicle
        tree={tree} of={[data, type, view]} sum={sum} palette={palette} name={name} short={short} role="flame graph" label={view.inverted ? "Methods that allocate, with their callers below." : "Stacks that allocate."} find="Find methods" whole="Whole graph"
        says={says}
        more={(node) => (
          <>
            <button type="button" aria-pressed={view.inverted} title="The methods that allocate on top, and their callers below" onClick={() => setView({ ...view, inverted: !view.inverted })}>Inverted</button>
            {view.only < 0
              ? <button type="button" class="only" disabled={node === tree.root} title="All calls of the enlarged method as if they were one" onClick={() => setView({ ...view, only: tree.frame[node] })}>Only this method</button>
              : <button type="button" class="only" aria-pressed="true" onClick={() => setView({ ...view, only: -1 })}>All methods</button>}
          </>
        )}
        hint={<>Click a method to enlarge it. Keys: arrows move, Enter enlarges, Backspace goes back, Esc shows all.{data.left_out_bytes > 0 && ` Stacks of ${bytes(data.left_out_bytes)} are left out.`}</>}
      />
      <Methods tree={whole} data={data} sum={sum} only={view.only} choose={(only) => setView({ ...view, only })} />
    </div>
  );
}

/** The methods that allocate most, as a table. */
function Methods({ tree, data, sum, only, choose }: { tree: Calls; data: Allocations; sum: number; only: number; choose(frame: number): void }): JSX.Element {
  const rows = useMemo(() => methodsOf(tree).slice(0, 20), [tree]);
  return (
    <details class="methods">
      <summary>Methods that allocate most</summary>
      <div class="wide">
        <table class="plain">
          <thead><tr><th scope="col">method</th><th scope="col" class="number">itself</th><th scope="col" class="number">share</th><th scope="col" class="number">with what it calls</th></tr></thead>
          <tbody>
            {rows.map((m) => (
              <tr key={m.frame} class={m.frame === only ? "chosen" : ""}>
                <td class="code"><button type="button" aria-pressed={m.frame === only} onClick={() => choose(m.frame === only ? -1 : m.frame)}>{data.frames[m.frame]}</button></td>
                <td class="number">{bytes(m.own)}</td><td class="number">{percent((100 * m.own) / sum)}</td><td class="number">{bytes(m.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">A method shows only its calls in the graph; inverted, who calls it.</p>
    </details>
  );
}

/** A method without its parameters. */
function short(name: string): string {
  const end = name.indexOf("(");
  return end > 0 ? name.slice(0, end) : name;
}
