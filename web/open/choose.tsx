import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Request } from "./request";
import { bytes } from "../src/units";

/** A place to drop files and to choose them. */
export function Choose({ ready, busy, open }: { ready: boolean; busy: boolean; open: (request: Request) => void }): JSX.Element {
  const [files, setFiles] = useState<File[]>([]);
  const [redact, setRedact] = useState(false);
  const [over, setOver] = useState(false);
  const take = (chosen: FileList | undefined | null) => {
    const all = [...(chosen ?? [])].sort((a, b) => a.name.localeCompare(b.name));
    if (all.length === 0 || busy) return;
    setFiles(all);
    if (all.length === 1) open({ kind: "page", files: all, redact });
  };
  useEffect(() => {
    // A file that misses the place would be opened in place of this page.
    const drag = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      take(event.dataTransfer?.files);
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
          <p class="lead">Drop a trace or a heap snapshot of .NET here.</p>
          <label class="file">
            <span>Choose files</span>
            <input type="file" multiple disabled={busy} onChange={(e) => { take(e.currentTarget.files); e.currentTarget.value = ""; }} />
          </label>
          <p class="hint">.nettrace, .netperf, .etl, .etl.zip, .trace.zip of LTTng, .gcdump; also in gzip, zstd, xz or zip</p>
          <label class="check"><input type="checkbox" checked={redact} onChange={(e) => setRedact(e.currentTarget.checked)} /> Redact: replace the names of the program by hashes, before the page is shared</label>
          <p role="status" class="hint">{ready ? "Ready." : "gctrail is loading; files can be chosen already."}</p>
        </section>
        {files.length > 1 && <Several files={files} busy={busy} redact={redact} open={open} />}
        <section class="says">
          <h2>Nothing is uploaded</h2>
          <p>gctrail itself runs in this page, as WebAssembly. The files stay where they are: it reads them in pieces, asks no server for anything but the files of this page, and the page's policy has the browser enforce that.</p>
          <h2>What is bounded</h2>
          <ul>
            <li>Memory hardly depends on the size of a trace: it is read in pieces. Heap snapshots are held whole, and the browser gives a page 4 GB at most.</li>
            <li>An .etl inside a zip is unpacked into memory, compressed: at most 512 MB of it. A larger one: unpack it first.</li>
            <li>A result has at most 512 MB.</li>
            <li>Reading takes several times as long as with gctrail itself, which uses all processors.</li>
          </ul>
          <h2>What needs gctrail itself</h2>
          <p>Running processes (collect, top, dump), folders of LTTng traces (pack them as tar or zip), symbols beside a trace, filters of the command line.</p>
        </section>
      </main>
    </>
  );
}

/** Several files: of one trace, or runs to compare. */
function Several({ files, busy, redact, open }: { files: File[]; busy: boolean; redact: boolean; open: (request: Request) => void }): JSX.Element {
  const [after, setAfter] = useState<Set<string>>(new Set(files.slice(Math.ceil(files.length / 2)).map((f) => f.name)));
  const sides = [files.filter((f) => !after.has(f.name)), files.filter((f) => after.has(f.name))];
  const set = (name: string, is: boolean) => {
    const changed = new Set(after);
    if (is) changed.add(name);
    else changed.delete(name);
    setAfter(changed);
  };
  return (
    <section aria-labelledby="several-title">
      <h2 id="several-title">{files.length} files</h2>
      <ul class="files">
        {files.map((f) => (
          <li key={f.name}>
            <fieldset>
              <legend>{f.name} <small>{bytes(f.size)}</small></legend>
              <label><input type="radio" name={`side ${f.name}`} checked={!after.has(f.name)} onChange={() => set(f.name, false)} /> before</label>
              <label><input type="radio" name={`side ${f.name}`} checked={after.has(f.name)} onChange={() => set(f.name, true)} /> after</label>
            </fieldset>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" disabled={busy || sides.some((s) => s.length === 0)} onClick={() => open({ kind: "diff", files: sides.flat(), before: sides[0].length, redact })}>Compare before and after</button>
        <button type="button" disabled={busy} onClick={() => open({ kind: "page", files, redact })}>Open together</button>
      </div>
    </section>
  );
}
