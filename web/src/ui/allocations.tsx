import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Allocations as Data } from "../data/header";
import type { Selection } from "../state/selection";
import type { State } from "../state/state";
import { useLoaded, useStore, type Store } from "../state/store";
import { bytes, count, percent, plural, unknown } from "../units";
import { usePalette } from "../charts/palette";
import { Flame } from "./flame";
import { Command, SortHeading } from "./parts";
import { marked } from "./summary";

const shownTypes = 60;

/** The bytes of each stack that were allocated before the selected collections; null where all are selected. */
function narrowed(data: Data, selection: Selection, state: State): Float64Array | null {
  const p = selection.process;
  if (!p || (selection.rows.length === p.rows && state.from === null && state.to === null)) return null;
  const groups = new Uint8Array(Math.ceil(p.rows / data.group) + 1);
  for (const row of selection.rows) groups[Math.floor(row / data.group)] = 1;
  // What was allocated after the last collection lies before none: times alone select it.
  const last = p.rows > 0 ? p.time[p.rows - 1] : 0;
  if (state.where === "" && state.pick === "" && (state.to ?? Infinity) > last && (state.from ?? 0) <= last) groups[groups.length - 1] = 1;
  const bytes = new Float64Array(data.stacks.length);
  data.parts.forEach((parts, i) => {
    let group = 0;
    for (let k = 0; k < parts.length; k += 2) {
      group += parts[k];
      if (groups[group++]) bytes[i] += parts[k + 1];
    }
  });
  return bytes;
}

/** What was allocated, by type and by stack. */
export function Allocations({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const data = useLoaded(() => p?.header.allocations && store.data.allocations(p), [p]);
  return data && <Shown store={store} data={data} />;
}

function Shown({ store, data }: { store: Store; data: Data }): JSX.Element {
  const allocated = data.allocated_bytes;
  const state = useStore(store, (s) => s.state);
  const palette = usePalette(state.theme);
  const [sort, setSort] = useState<"bytes" | "objects" | "type">("bytes");
  const selection = useStore(store, (s) => s.selection);
  const part = useMemo(() => narrowed(data, selection, state), [data, selection]);
  const amounts = useMemo(() => part ?? Float64Array.from(data.stacks, (s) => s[2]), [data, part]);
  const types = useMemo(() => {
    let order = data.types.map((t, i) => ({ ...t, i }));
    if (part) {
      const bytes = new Float64Array(data.types.length);
      data.stacks.forEach(([of], i) => {
        if (of >= 0) bytes[of] += part[i];
      });
      order = order.map((t) => ({ ...t, bytes: bytes[t.i], objects: 0 })).filter((t) => t.bytes > 0).sort((a, b) => b.bytes - a.bytes);
    }
    if (sort === "objects") order.sort((a, b) => b.objects - a.objects);
    if (sort === "type") order.sort((a, b) => (a.type < b.type ? -1 : 1));
    return order;
  }, [data, sort, part]);
  const shown = types.slice(0, shownTypes);
  /** Marks figures that are estimates. */
  const about = (text: string, { low_bytes, high_bytes }: { low_bytes: number; high_bytes: number | null } = data) => marked(low_bytes === high_bytes || allocated !== null ? "" : "~", text);
  const total = useMemo(() => (part ? part.reduce((a, b) => a + b, 0) : data.bytes), [data, part]);
  const id = (t: { type: string; heap: string }) => `${t.type}|${t.heap}`;
  const selected = data.types.findIndex((t) => id(t) === state.type);
  const share = (n: number) => (total > 0 ? (100 * n) / total : NaN);
  const heading = (name: typeof sort, label: string, number = true) => (
    <SortHeading label={label} direction={sort !== name ? null : name === "type" ? "ascending" : "descending"} kind={number ? "number" : ""} sort={() => setSort(name)} />
  );
  return (
    <section class="allocations" aria-labelledby="allocations-title">
      <header class="section-head">
        <h2 id="allocations-title">Allocations</h2>
        <p class="hint">
          {part ? <><b>{about(bytes(total))} {allocated !== null ? "counted" : "allocated"} before the selected GCs</b>, of {about(bytes(data.bytes))}</> : about(bytes(data.bytes))}, {allocated !== null ? "counted " : data.low_bytes === data.high_bytes ? "" : "estimated "}from {plural(data.samples, `${data.event} event`)}.{allocated !== null && ` That is more than the ${bytes(allocated)} that were allocated: the events count whole allocation contexts, and .NET 5 and earlier count parts of them again.`} {plural(types.length, "type")} by heap{types.length > shownTypes && `, the ${shownTypes} first below; gctrail allocs has all`}.
          {part && data.group > 1 && ` The page distinguishes allocations by groups of ${data.group} GCs: a group with a selected GC counts as a whole.`}
        </p>
      </header>
      <div class="pair">
        <div class="types">
          <table class="plain">
            <thead><tr>{heading("type", "type", false)}<th scope="col">heap</th>{heading("bytes", "bytes")}<th scope="col" class="number">share</th>{heading("objects", "objects")}</tr></thead>
            <tbody>
              {shown.map((t) => (
                <tr key={id(t)} class={t.i === selected ? "chosen" : ""} title={part || allocated !== null ? undefined : `95 % confidence: ${bytes(t.low_bytes)} to ${t.high_bytes === null ? "more" : bytes(t.high_bytes)}, from ${plural(t.samples, "sample")}`}>
                  <td class="code" data-heap={t.heap === "small" ? undefined : t.heap}>
                    <button type="button" aria-pressed={t.i === selected} onClick={() => store.set({ type: t.i === selected ? "" : id(t) })}>{t.type || "(unknown type)"}</button>
                  </td>
                  <td>{t.heap}</td>
                  <td class="number">{bytes(t.bytes)}</td>
                  <td class="number bar" style={{ "--share": `${share(t.bytes)}%` }}>{percent(share(t.bytes))}</td>
                  <td class="number">{t.objects > 0 ? about(count(t.objects), t) : unknown}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {types.length === 0 && <p class="hint">No allocation was recorded before the selected GCs.</p>}
        </div>
        {data.frames.some((name) => name !== "?") ? <Flame data={data} amounts={amounts} type={selected} palette={palette} /> : <NoStacks named={data.frames.length === 0} command={store.process!.header.record.stacks} />}
      </div>
    </section>
  );
}

function NoStacks({ named, command }: { named: boolean; command: string }): JSX.Element {
  return (
    <div class="stackless">
      <p class="hint">The trace has no {named ? "stacks" : "names for the methods in the stacks"} of allocations.{command && " Record them:"}</p>
      {command && <Command text={command} />}
    </div>
  );
}
