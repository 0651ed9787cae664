import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Process } from "../data/process";
import { useStore, type Store } from "../state/store";
import { count, duration, percent, plural } from "../units";
import { explain } from "./parts";
import { codes, marked } from "./summary";

/** How many processes are listed before the rest is asked for. */
const first = 8;

const severity = ["problem", "warning", "unknown", "good"];

/** The processes in the order in which they need a look: the worst verdict first, then the longest pauses. */
function ranked(processes: Process[]): Process[] {
  const rank = (p: Process) => severity.indexOf(codes[p.report?.verdict_code ?? ""] ?? "unknown");
  const paused = (p: Process) => p.report?.totals.pause_ms ?? 0;
  return [...processes].sort((a, b) => rank(a) - rank(b) || paused(b) - paused(a) || a.index - b.index);
}

/** The processes, where there are several, to select one. A comparison keeps the order of its sides. */
export function Processes({ store }: { store: Store }): JSX.Element | null {
  const current = useStore(store, (s) => s.state.process);
  useStore(store, (s) => s.version);
  const [all, setAll] = useState(false);
  const comparing = useStore(store, (s) => s.data.head.comparison !== null && s.state.compare);
  const { processes, head } = store.data;
  if (processes.length < 2) return null;
  const several = head.traces.length > 1;
  const order = head.comparison ? processes : ranked(processes);
  const shown = all ? order : order.filter((p, i) => i < first || p.index === current);
  return (
    <section class="processes" aria-labelledby="processes-title">
      <header class="section-head">
        <h2 id="processes-title">Processes</h2>
        {!head.comparison && <p class="hint">The worst verdict first, then the longest total pause.</p>}
      </header>
      <div class="wide">
        <table class="plain">
          <thead><tr><th scope="col">process</th>{head.comparison && <th scope="col" class="aside">side</th>}{several && <th scope="col" class="aside">trace</th>}<th scope="col" class="number">GCs</th><th scope="col" class="number">total pause</th><th scope="col" class="number">paused</th><th scope="col" class="number" title={explain(head, "watched")}>watched</th><th scope="col">verdict</th></tr></thead>
          <tbody>
            {shown.map((p) => (
              <tr key={p.index} class={p.index === current && !comparing ? "chosen" : ""}>
                <td><button type="button" aria-pressed={p.index === current && !comparing} onClick={() => store.show(p.index)}>{p.title}</button></td>
                {head.comparison && <td class="aside">{p.trace.side}</td>}
                {several && <td class="aside">{base(p.trace.name)}</td>}
                <td class="number">{count(p.rows)}</td>
                <td class="number">{marked(p.header.pause_at_least ? ">" : "", duration((p.report?.totals.pause_ms ?? NaN) * 1e3))}</td>
                <td class="number">{marked(p.header.pause_at_least ? ">" : "", percent(p.report?.totals.pause_pct))}</td>
                <td class="number">{duration((p.report?.totals.watched_ms ?? NaN) * 1e3)}</td>
                <td>{p.report?.verdict}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < order.length && <p class="printed">{count(shown.length)} of {plural(order.length, "process", "processes")}; gctrail report prints all.</p>}
      {order.length > first && (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Show the first ${first} only` : `Show all ${plural(order.length, "process", "processes")}`}
        </button>
      )}
    </section>
  );
}

/** The last part of a path. */
export function base(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
