import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Cancelled, type Engine } from "./engine";
import { Choose } from "./choose";
import { asked, fetched } from "./examples";
import type { Folder } from "./folder";
import type { Host } from "./host";
import { useEntries } from "./listing";
import type { Request } from "./request";
import { Shown } from "./shown";
import { bytes, count } from "../src/units";

/** A reading that is under way. */
interface Reading {
  of: string;
  read: number;
  size: number;
  collections: number;
}

/** A page about traces, and what it was made of. */
export interface Page {
  data: Blob;
  url: string;
  title: string;
  request: Request;
}

/** Traces that are chosen, read and shown. */
export function App({ engine, host }: { engine: Engine; host: Host }): JSX.Element {
  const [ready, setReady] = useState(false);
  const [problem, setProblem] = useState("");
  const [reading, setReading] = useState<Reading | null>(null);
  const [page, setPage] = useState<Page | null>(null);
  const [folder, setFolder] = useState<Folder | null>(null);
  const entries = useEntries(engine, folder, ready && reading === null && page === null);
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    engine.ready().then(() => setReady(true), (error) => setProblem(`gctrail does not start here: ${words(error)}`));
  }, [engine]);
  useEffect(() => cancel.current?.focus(), [reading === null]);

  /** Runs a request; the result is undefined where it has failed or was cancelled. */
  const run = async (of: string, request: Request): Promise<ArrayBuffer | undefined> => {
    setProblem("");
    const size = request.files.reduce((sum, f) => sum + f.size, 0);
    setReading({ of, read: 0, size, collections: 0 });
    try {
      return await engine.run(request, (read, size, collections) => setReading({ of, read, size, collections }));
    } catch (error) {
      if (!(error instanceof Cancelled)) setProblem(words(error));
      return undefined;
    } finally {
      setReading(null);
    }
  };
  const open = async (request: Request) => {
    const title = request.files.map((f) => f.name).join(request.kind === "diff" ? ", " : " + ");
    const data = await run(title, request);
    if (!data) return;
    if (page) URL.revokeObjectURL(page.url);
    const blob = new Blob([data], { type: "text/html" });
    setPage({ data: blob, url: URL.createObjectURL(blob), title, request });
    document.title = `${title} - gctrail`;
  };
  const { first } = host;
  useEffect(() => {
    const example = asked(location.search);
    if (first) void open(first);
    if (first || !example) return;
    setReading({ of: example.names.join(" and "), read: 0, size: 0, collections: 0 });
    fetched(example).then(open, (error) => {
      setProblem(words(error));
      setReading(null);
    });
  }, [first]);
  const close = () => {
    if (page) URL.revokeObjectURL(page.url);
    setPage(null);
    setProblem("");
    document.title = "gctrail";
  };
  return (
    <>
      {page
        ? <Shown page={page} engine={engine} host={host} busy={reading !== null} run={run} open={open} close={close} />
        : first
          ? <p class="again">{!reading && <button type="button" onClick={() => open(first)}>Read again</button>}</p>
          : <Choose ready={ready} busy={reading !== null} open={open} folder={folder} setFolder={setFolder} entries={entries} />}
      <div class="state" aria-live="polite">
        {problem !== "" && <p class="failure" role="alert">{problem}</p>}
        {reading && (
          <div class="reading">
            <label>
              <span>{ready ? "Reading" : "Loading gctrail to read"} {reading.of}</span>
              <progress max={Math.max(1, reading.size)} value={ready ? reading.read : undefined} />
            </label>
            <p class="hint">{bytes(reading.read)} of {bytes(reading.size)}, {count(reading.collections)} GCs</p>
            <button type="button" ref={cancel} onClick={() => engine.cancel()}>Cancel</button>
          </div>
        )}
      </div>
    </>
  );
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
