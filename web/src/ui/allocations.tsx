import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Allocations as Data } from "../data/header";
import { useStore, type Store } from "../state/store";
import { bytes, count, percent, plural } from "../units";
import { usePalette } from "../charts/palette";
import { Flame } from "./flame";

const shownTypes = 60;

/** What was allocated, by type and by stack. */
export function Allocations({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  const [data, setData] = useState<Data | null>(null);
  useEffect(() => {
    let stale = false;
    setData(null);
    if (p?.header.allocations) void store.data.allocations(p).then((of) => !stale && setData(of));
    return () => {
      stale = true;
    };
  }, [p]);
  if (!p || !data) return null;
  return <Shown store={store} data={data} />;
}

function Shown({ store, data }: { store: Store; data: Data }): JSX.Element {
  const state = useStore(store, (s) => s.state);
  const palette = usePalette(state.theme);
  const [sort, setSort] = useState<"bytes" | "objects" | "type">("bytes");
  const types = useMemo(() => {
    const order = data.types.map((t, i) => ({ ...t, i }));
    if (sort === "objects") order.sort((a, b) => b.objects - a.objects);
    if (sort === "type") order.sort((a, b) => (a.type < b.type ? -1 : 1));
    return order.slice(0, shownTypes);
  }, [data, sort]);
  const id = (t: { type: string; heap: string }) => `${t.type}|${t.heap}`;
  const selected = data.types.findIndex((t) => id(t) === state.type);
  const timed = state.from !== null || state.to !== null || state.where !== "" || state.pick !== "";
  const share = (n: number) => (data.bytes > 0 ? (100 * n) / data.bytes : NaN);
  const heading = (name: typeof sort, label: string, number = true) => (
    <th scope="col" class={number ? "number" : ""} aria-sort={sort === name ? (name === "type" ? "ascending" : "descending") : "none"}>
      <button type="button" onClick={() => setSort(name)}>{label}{sort === name && <span aria-hidden="true">{name === "type" ? " ▴" : " ▾"}</span>}</button>
    </th>
  );
  return (
    <section class="allocations" aria-labelledby="allocations-title">
      <header class="section-head">
        <h2 id="allocations-title">Allocations</h2>
        <p class="hint">
          {bytes(data.bytes)} by {plural(data.samples, "event")} {data.event}. {timed && <b>Of the whole trace: the selection does not narrow allocations.</b>}
        </p>
      </header>
      <div class="pair">
        <div class="types">
          <table class="plain">
            <thead><tr>{heading("type", "type", false)}<th scope="col">heap</th>{heading("bytes", "bytes")}<th scope="col" class="number">share</th>{heading("objects", "objects")}</tr></thead>
            <tbody>
              {types.map((t) => (
                <tr key={id(t)} class={t.i === selected ? "chosen" : ""}>
                  <td class="code">
                    <button type="button" aria-pressed={t.i === selected} onClick={() => store.set({ type: t.i === selected ? "" : id(t) })}>{t.type || "(unknown type)"}</button>
                  </td>
                  <td>{t.heap}</td>
                  <td class="number" title={`95 % confidence: ${bytes(t.low_bytes)} to ${t.high_bytes === null ? "more" : bytes(t.high_bytes)}, from ${plural(t.samples, "sample")}`}>{bytes(t.bytes)}</td>
                  <td class="number bar" style={{ "--share": `${share(t.bytes)}%` }}>{percent(share(t.bytes))}</td>
                  <td class="number">{t.objects > 0 ? count(t.objects) : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {data.types.length > shownTypes && <p class="hint">The {shownTypes} first of {count(data.types.length)}; gctrail allocs has all.</p>}
        </div>
        {data.frames.length > 0 ? <Flame data={data} type={selected} palette={palette} /> : <p class="hint">The trace has no stacks of allocations. Record them with: gctrail collect --profile gc-verbose</p>}
      </div>
    </section>
  );
}
