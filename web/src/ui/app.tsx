import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Charts } from "../charts/charts";
import { nextTask } from "../data/pause";
import { useStore, type Store } from "../state/store";
import { Allocations } from "./allocations";
import { Compare } from "./compare";
import { Details } from "./details";
import { Distribution } from "./distribution";
import { Objects } from "./objects";
import { base, Processes } from "./processes";
import { Evidence, Figures, Findings, Verdict } from "./summary";
import { home, onServer } from "../data/server";
import { useUnfolded } from "../charts/printing";
import { Table } from "./table";
import { Tip } from "./tip";
import { Toolbar } from "./toolbar";

/** Counts tasks up to a number, so that a page appears part by part. */
function useStage(last: number): number {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    if (stage < last) void nextTask().then(() => setStage(stage + 1));
  }, [stage]);
  return stage;
}

/** The whole page. */
export function App({ store }: { store: Store }): JSX.Element {
  const p = useStore(store, (s) => s.process);
  const stage = useStage(6);
  useUnfolded();
  const comparing = useStore(store, (s) => s.data.head.comparison !== null && s.state.compare);
  const snapshots = p !== null && p.rows === 0 && p.header.objects; // and no GCs
  return (
    <>
      {!snapshots && <a class="skip" href="#collections" onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>(".grid")?.focus(); }}>Skip to the GCs</a>}
      <Bar store={store} />
      <main>
        {!snapshots && (comparing ? <Compare store={store} /> : <Verdict store={store} />)}
        <Processes store={store} />
        {snapshots && <Objects store={store} key={p.index} />}
        {!snapshots && !comparing && (
          <>
            {p && p.rows > 0 && <Figures store={store} />}
            {stage > 0 && (
              <div class="columns">
                <Findings store={store} />
                <Evidence store={store} />
              </div>
            )}
            {p && p.rows > 0 && (
              <>
                {stage > 0 && <Objects store={store} key={`objects${p.index}`} />}
                {stage > 1 && <Toolbar store={store} />}
                {stage > 2 && <Charts store={store} key={p.index} />}
                {stage > 3 && <Distribution store={store} />}
                {stage > 4 && <Table store={store} key={`table${p.index}`} />}
                {stage > 5 && <Allocations store={store} />}
              </>
            )}
          </>
        )}
      </main>
      <Details store={store} />
      <footer>{store.data.head.program}. {store.data.origin}</footer>
      <Tip />
    </>
  );
}

function Bar({ store }: { store: Store }): JSX.Element {
  const theme = useStore(store, (s) => s.state.theme);
  const p = useStore(store, (s) => s.process);
  const comparing = useStore(store, (s) => s.data.head.comparison !== null && s.state.compare);
  const themes = ["auto", "light", "dark"] as const;
  return (
    <header class="bar">
      {onServer() ? <button type="button" class="brand" onClick={home}>gctrail</button> : <span class="brand">gctrail</span>}
      {store.data.head.comparison && !comparing && <button type="button" onClick={() => store.set({ compare: true, gc: null })}>Comparison</button>}
      <h1 title={p?.trace.name ?? store.data.head.traces[0]?.name}>{comparing ? "Comparison" : base(p?.trace.name ?? store.data.head.traces[0]?.name ?? "")}</h1>
      <fieldset class="themes">
        <legend class="hidden">Colours</legend>
        {themes.map((t) => (
          <label key={t}>
            <input type="radio" name="theme" checked={theme === t} onChange={() => store.set({ theme: t })} />
            {t}
          </label>
        ))}
      </fieldset>
    </header>
  );
}
