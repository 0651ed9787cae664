import { useEffect, useState } from "preact/hooks";
import type { Data } from "../data/source";
import type { Process } from "../data/process";
import { initial, read, write, type State } from "./state";
import { emptySelection, select, type Selection } from "./selection";

/** The URL's fragment, without its sign. */
const currentFragment = () => location.hash.replace(/^#/, "");

/** What the page shows, and what follows from it. */
export class Store {
  state: State;
  selection: Selection = emptySelection;
  /** Grows when data was added. */
  version = 0;
  private readonly listeners = new Set<() => void>();
  private selecting = 0;
  /** The fragment that the state was read from, or written to. */
  private fragment = currentFragment();
  private pending = 0;
  /** Resolves when the first selection is made: there are no figures to show before. */
  readonly selected: Promise<void>;
  private resolveSelected: () => void = () => undefined;

  constructor(public data: Data) {
    this.state = this.valid(read(this.fragment));
    this.colour();
    this.selected = new Promise((done) => (this.resolveSelected = done));
    addEventListener("hashchange", () => {
      if (currentFragment() === this.fragment) return;
      this.fragment = currentFragment();
      this.take(this.valid(read(this.fragment)));
    });
    this.reselect();
  }

  get process(): Process | null {
    return this.data.processes[this.state.process] ?? null;
  }

  /** Changes what is shown. */
  set(change: Partial<State>): void {
    this.take({ ...this.state, ...change });
  }

  /** Selects another process: what was selected of the one before does not apply. */
  show(process: number): void {
    const { source, theme, columns, sort } = this.state;
    this.take({ ...initial, source, theme, columns, sort, process, compare: false });
  }

  /** Notes that data was added. */
  grown(): void {
    this.version++;
    this.reselect();
    this.notify();
  }

  private take(state: State): void {
    this.state = state;
    this.colour();
    this.reselect();
    this.notify();
    clearTimeout(this.pending);
    this.pending = window.setTimeout(() => this.save(), 200);
  }

  /** Sets the colours before anything is drawn in them. */
  private colour(): void {
    if (this.state.theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.state.theme;
  }

  /** Writes the state to the URL, unless that has changed and its event, which brings another state, is still to come. */
  private save(): void {
    if (currentFragment() !== this.fragment) return;
    const written = write(this.state);
    history.replaceState(null, "", written ? `#${written}` : location.href.replace(/#.*/, ""));
    this.fragment = currentFragment();
  }

  private valid(state: State): State {
    if (state.process >= this.data.processes.length) state.process = 0;
    return state;
  }

  private reselect(): void {
    const turn = ++this.selecting;
    const process = this.process;
    if (!process) {
      this.resolveSelected();
      return;
    }
    void select(process, this.state, this.selection, () => turn !== this.selecting).then((selection) => {
      if (!selection || turn !== this.selecting || selection === this.selection) return;
      this.selection = selection;
      this.resolveSelected();
      this.notify();
    });
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** What is loaded for some inputs: null where there is nothing to load, and until it is there. */
export function useLoaded<T>(load: () => Promise<T> | false | undefined, inputs: unknown[]): T | null {
  const [of, setOf] = useState<{ inputs: unknown[]; loaded: T } | null>(null);
  useEffect(() => {
    let stale = false;
    void (load() || null)?.then((loaded) => !stale && setOf({ inputs, loaded }));
    return () => {
      stale = true;
    };
  }, inputs);
  return of?.inputs.every((input, i) => input === inputs[i]) ? of.loaded : null;
}

/** Draws a component again when a part of the store changes. */
export function useStore<T>(store: Store, of: (store: Store) => T): T {
  const value = of(store);
  const [, redraw] = useState({});
  useEffect(() => {
    let last = of(store);
    if (last !== value) redraw({});
    return store.listen(() => {
      const now = of(store);
      if (now !== last) {
        last = now;
        redraw({});
      }
    });
  }, [store]);
  return value;
}
