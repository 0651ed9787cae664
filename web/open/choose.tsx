import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { besideAll, chosenFiles, chosenFolder, droppedFolder, type Folder } from "./folder";
import { Listing, PartFields, type Entry } from "./listing";
import type { Part, Request } from "./request";
import { bytes } from "../src/units";

interface Props {
  ready: boolean;
  busy: boolean;
  open: (request: Request) => void;
  folder: Folder | null;
  setFolder: (folder: Folder | null) => void;
  entries: Map<File, Entry>;
}

/** A place to drop files and folders, and to choose them. */
export function Choose({ ready, busy, open, folder, setFolder, entries }: Props): JSX.Element {
  const [files, setFiles] = useState<File[]>([]);
  const [among, setAmong] = useState<Folder | null>(null); // the files, where they are from no folder
  const [redact, setRedact] = useState(false);
  const [part, setPart] = useState<Part>({});
  const [over, setOver] = useState(false);
  const openOne = (file: File, of: Folder) => open({ kind: "page", files: [file], beside: of.beside.get(file), redact, ...part });
  const take = (chosen: FileList | undefined | null) => {
    const all = [...(chosen ?? [])];
    if (all.length === 0 || busy) return;
    const found = chosenFiles(all);
    if (found.traces.length === 0) {
      open({ kind: "page", files: all.slice(0, 1), redact, ...part }); // which says what it is
      return;
    }
    setFolder(null);
    setAmong(found);
    setFiles(found.traces);
    if (found.traces.length === 1) openOne(found.traces[0], found);
  };
  const list = (found: Folder) => {
    setFiles([]);
    setFolder(found);
  };
  useEffect(() => {
    // A file that misses the place would be opened in place of this page.
    const drag = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      if (busy || !event.dataTransfer) return;
      const found = droppedFolder(event.dataTransfer);
      if (found) void found.then(list);
      else take(event.dataTransfer.files);
    };
    addEventListener("dragover", drag);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("drop", drop);
    };
  });
  return (
    <>
      <header class="bar"><span class="brand">gctrail</span><h1>Open traces in this browser</h1></header>
      <main>
        <section class={over ? "drop over" : "drop"} onDragEnter={() => setOver(true)} onDragLeave={() => setOver(false)}>
          <p class="lead">Drop traces or heap snapshots of .NET here, or a folder of them.</p>
          <div class="ways">
            <label class="file">
              <span>Choose files</span>
              <input type="file" multiple disabled={busy} onChange={(e) => { take(e.currentTarget.files); e.currentTarget.value = ""; }} />
            </label>
            <label class="file">
              <span>Choose a folder</span>
              <input type="file" {...{ webkitdirectory: true }} disabled={busy} onChange={(e) => { if (e.currentTarget.files?.length) list(chosenFolder(e.currentTarget.files)); e.currentTarget.value = ""; }} />
            </label>
          </div>
          <p class="hint">.nettrace, .netperf, .etl, .etl.zip, .trace.zip of LTTng, .gcdump; also in gzip, zstd, xz or zip</p>
          <label class="check"><input type="checkbox" checked={redact} onChange={(e) => setRedact(e.currentTarget.checked)} /> Redact: replace the names of the program by hashes, before the page is shared</label>
          <details class="only">
            <summary>Read only a part</summary>
            <PartFields part={part} set={setPart} />
            <p class="hint">Processes by name or id; times from the start of the trace, such as 1.5s or 2m, or of the day, such as 2026-01-02T15:04:05Z.</p>
          </details>
          <p role="status" class="hint">{ready ? "Ready." : "gctrail is loading; files can be chosen already."}</p>
        </section>
        {folder && <Listing key={folder} folder={folder} entries={entries} busy={busy} open={(file) => openOne(file, folder)} several={setFiles} />}
        {files.length > 1 && <Several key={files} files={files} busy={busy} open={(request) => open({ ...request, beside: besideAll(folder ?? among!, files), redact, ...part })} />}
        <section class="says">
          <h2>Nothing is uploaded</h2>
          <p>gctrail itself runs in this page, as WebAssembly. The files stay where they are: it reads them in pieces, asks no server for anything but the files of this page, and the page's policy has the browser enforce that.</p>
          <h2>Limits</h2>
          <ul>
            <li>Memory hardly depends on the size of a trace: it is read in pieces. Heap snapshots are held whole, and the browser gives a page 4 GB at most.</li>
            <li>An .etl inside a zip is unpacked into memory, compressed: at most 512 MB of it. Unpack larger ones first.</li>
            <li>A result can be at most 512 MB.</li>
            <li>Reading takes several times as long as with gctrail itself, which uses all processors.</li>
          </ul>
          <h2>What needs gctrail itself</h2>
          <p>Running processes (collect, top, dump) and budgets.</p>
          <p>Files beside a trace are read with it if they are chosen together, or in a folder: the other parts of an ETW trace (X.kernel.etl, X.clrRundown.etl of X.etl), and perf-PID.map, which names methods.</p>
        </section>
      </main>
    </>
  );
}

/** Several files: of one trace, or runs to compare. */
function Several({ files, busy, open }: { files: File[]; busy: boolean; open: (request: Request) => void }): JSX.Element {
  const [after, setAfter] = useState(new Set(files.slice(Math.ceil(files.length / 2))));
  const sides = [files.filter((f) => !after.has(f)), files.filter((f) => after.has(f))];
  const set = (file: File, is: boolean) => {
    const changed = new Set(after);
    if (is) changed.add(file);
    else changed.delete(file);
    setAfter(changed);
  };
  return (
    <section aria-labelledby="several-title">
      <h2 id="several-title">{files.length} files</h2>
      <ul class="files">
        {files.map((f, i) => (
          <li key={f}>
            <fieldset>
              <legend>{f.name} <small>{bytes(f.size)}</small></legend>
              <label><input type="radio" name={`side ${i}`} checked={!after.has(f)} onChange={() => set(f, false)} /> before</label>
              <label><input type="radio" name={`side ${i}`} checked={after.has(f)} onChange={() => set(f, true)} /> after</label>
            </fieldset>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" disabled={busy || sides.some((s) => s.length === 0)} onClick={() => open({ kind: "diff", files: sides.flat(), before: sides[0].length, redact: false })}>Compare before and after</button>
        <button type="button" disabled={busy} onClick={() => open({ kind: "page", files, redact: false })}>Open together</button>
      </div>
    </section>
  );
}
