import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Cancelled, type Engine } from "./engine";
import type { Folder } from "./folder";
import type { Part } from "./request";
import { bytes, count, duration } from "../src/units";

/** What a list says of a trace, as internal/report has it. */
export interface Entry {
  process?: string;
  start?: string;
  duration_ms?: number;
  verdict?: string;
  problem?: string;
  beside?: string; // the files that were read with it, in words
}

/** Reads the traces of a folder one after the other, while nothing else is read. */
export function useEntries(engine: Engine, folder: Folder | null, idle: boolean): Map<File, Entry> {
  const [entries, setEntries] = useState(new Map<File, Entry>());
  const next = folder?.traces.find((file) => !entries.has(file));
  useEffect(() => {
    if (!next || !idle) return;
    const read = async () => {
      let entry: Entry;
      try {
        const data = await engine.run({ kind: "entry", files: [next], beside: folder!.beside.get(next), redact: false }, () => {});
        entry = JSON.parse(new TextDecoder().decode(data)) as Entry;
      } catch (error) {
        if (error instanceof Cancelled) return;
        const why = error instanceof Error ? error.message : String(error);
        entry = { problem: why.replace(`${next.name}: `, "") };
      }
      setEntries((known) => new Map(known).set(next, entry));
    };
    void read();
  }, [engine, next, idle]);
  return entries;
}

interface Props {
  folder: Folder;
  entries: Map<File, Entry>;
  busy: boolean;
  open: (file: File) => void;
  /** Chooses several, to compare them or to open them together. */
  several: (files: File[]) => void;
}

/** The traces of a folder, with what is known of each. */
export function Listing({ folder, entries, busy, open, several }: Props): JSX.Element {
  const [marked, setMarked] = useState(new Set<File>());
  const mark = (file: File, is: boolean) => {
    const changed = new Set(marked);
    if (is) changed.add(file);
    else changed.delete(file);
    setMarked(changed);
    several(folder.traces.filter((f) => changed.has(f)));
  };
  const { traces, others, symbols, more } = folder;
  return (
    <section aria-labelledby="folder-title">
      <h2 id="folder-title">{folder.name}: {count(traces.length)} {traces.length === 1 ? "trace" : "traces"}</h2>
      {others > 0 && <p class="hint">{count(others)} other {others === 1 ? "file is" : "files are"} not listed. Traces are known by their endings: .nettrace, .netperf, .etl, .gcdump, .zip, .gz, .zst, .xz, .tar.</p>}
      {symbols > 0 && <p class="hint">{count(symbols)} {symbols === 1 ? "file" : "files"} of symbols, such as .pdb, {symbols === 1 ? "is" : "are"} not read: methods have their names from the trace, and from perf-PID.map beside it.</p>}
      {more && <p class="hint">The folder has more files than are looked at: choose a folder in it.</p>}
      {traces.length > 1 && <p class="hint">Mark several to compare them.</p>}
      {traces.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-labelledby="folder-title">
          <table>
            <thead><tr><th scope="col">trace</th><th scope="col">process</th><th scope="col">started (UTC)</th><th scope="col" class="number">length</th><th scope="col" class="number">size</th><th scope="col">verdict</th></tr></thead>
            <tbody>
              {traces.map((file) => (
                <Row key={file} file={file} name={inside(folder, file)} beside={folder.beside.get(file) ?? []} entry={entries.get(file)} marked={marked.has(file)} busy={busy} open={open} mark={mark} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** The path of a trace in its folder. */
function inside(folder: Folder, file: File): string {
  const path = folder.paths.get(file) ?? file.name;
  return path.startsWith(`${folder.name}/`) ? path.slice(folder.name.length + 1) : path;
}

interface RowProps {
  file: File;
  name: string;
  beside: File[];
  entry?: Entry;
  marked: boolean;
  busy: boolean;
  open: (file: File) => void;
  mark: (file: File, is: boolean) => void;
}

function Row({ file, name, beside, entry, marked, busy, open, mark }: RowProps): JSX.Element {
  return (
    <tr>
      <td>
        <span class="named">
          <input type="checkbox" aria-label={`mark ${name}`} checked={marked} onChange={(e) => mark(file, e.currentTarget.checked)} />
          <button type="button" disabled={busy} onClick={() => open(file)}>{name}</button>
        </span>
        {beside.length > 0 && <small class="with">{besides(beside, entry)}</small>}
      </td>
      <td>{entry?.process}</td>
      <td>{entry?.start?.replace("T", " ").replace(/:\d\d(\.\d+)?Z$/, "")}</td>
      <td class="number">{entry?.duration_ms ? duration(entry.duration_ms * 1e3) : ""}</td>
      <td class="number">{bytes(file.size)}</td>
      <td class={entry?.problem ? "failure" : undefined}>{entry ? entry.problem ?? entry.verdict : "Reading …"}</td>
    </tr>
  );
}

/** The files beside a trace: which parts were read with it, and the perf maps that its page uses for its processes. */
function besides(files: File[], entry?: Entry): string {
  const maps = files.filter((f) => f.name.endsWith(".map")).map((f) => f.name);
  const parts = files.filter((f) => !f.name.endsWith(".map")).map((f) => f.name);
  const words = [entry?.beside ?? (parts.length > 0 ? `with ${parts.join(", ")}` : ""), maps.length > 3 ? `${count(maps.length)} perf maps` : maps.join(", ")];
  return words.filter(Boolean).join("; ");
}

/** What of a trace is read. */
export function PartFields({ part, set }: { part: Part; set: (part: Part) => void }): JSX.Element {
  const field = (of: keyof Part, label: string, example: string) => (
    <label>{label} <input type="text" size={12} placeholder={example} spellcheck={false} value={part[of] ?? ""} onInput={(e) => set({ ...part, [of]: e.currentTarget.value })} /></label>
  );
  return (
    <div class="part">
      {field("process", "process", "web* or 1234")}
      {field("from", "from", "1.5s")}
      {field("to", "to", "2m")}
    </div>
  );
}
