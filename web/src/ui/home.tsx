import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { dump, dumpCost, list, show, upload, type Dump, type List, type Source } from "../data/server";
import { bytes, count, duration, unknown } from "../units";
import { sentence } from "./parts";

/** What a server has to show, and a place to drop traces. */
export function Home(): JSX.Element {
  const [all, setAll] = useState<List | null>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState("");
  const [dumping, setDumping] = useState("");
  const [dumped, setDumped] = useState<Dump | null>(null);
  useEffect(() => {
    let timer = 0;
    const look = async () => {
      try {
        setAll(await list());
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
      timer = window.setTimeout(look, 2000);
    };
    void look();
    return () => clearTimeout(timer);
  }, []);
  const send = async (file: File | undefined) => {
    if (!file || busy !== "") return;
    setProblem("");
    if (all && file.size > all.max_upload_bytes) {
      setProblem(`${file.name} is larger than ${bytes(all.max_upload_bytes)}: pass its path to gctrail serve.`);
      return;
    }
    setBusy(file.name);
    try {
      show(await upload(file));
    } catch (error) {
      setProblem(`${file.name}: ${error instanceof Error ? error.message : error}`);
      setBusy("");
    }
  };
  const take = async (of: Source) => {
    setProblem("");
    try {
      if (!confirm(`A heap snapshot of ${of.name}: ${await dumpCost(of)}. Take it?`)) return;
      setDumped(null);
      setDumping(of.name);
      setDumped(await dump(of));
    } catch (error) {
      setProblem(`No snapshot of ${of.name}: ${error instanceof Error ? error.message : error}`);
    }
    setDumping("");
  };
  const processes = all?.sources.filter((s) => s.kind === "process") ?? [];
  const files = (all?.sources.filter((s) => s.kind === "file") ?? []).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return (
    <div class="home" onDragOver={(e) => e.preventDefault()} onDrop={(e) => { e.preventDefault(); void send(e.dataTransfer?.files[0]); }}>
      <header class="bar"><span class="brand">gctrail</span><h1>Traces and processes</h1></header>
      <main>
        {problem !== "" && <p class="failure" role="alert">{problem}</p>}
        {all?.watching && (
          <section aria-labelledby="running-title">
            <h2 id="running-title">Processes</h2>
            {processes.length === 0 ? <p class="hint">No .NET process is running, or none can be reached.</p> : <Processes of={processes} dump={dumping === "" ? take : undefined} />}
            <p role="status">
              {dumping !== "" && `Taking a heap snapshot of ${dumping} …`}
              {dumped && <><button type="button" onClick={() => show({ kind: "file", id: dumped.id, name: dumped.path, live: false, collections: 0 })}>{dumped.path}</button> {dumped.about}.</>}
            </p>
          </section>
        )}
        {files.length > 0 && (
          <section aria-labelledby="traces-title">
            <h2 id="traces-title">Traces</h2>
            <Files of={files} />
          </section>
        )}
        <section class="drop">
          <p>{busy === "" ? "Drop a trace or a heap snapshot here: .nettrace, .etl.zip, .trace.zip, .gcdump, also compressed. It stays on the machine that serves this page, in memory." : `Reading ${busy} …`}</p>
          <label class="file">
            <span>Choose a trace</span>
            <input type="file" disabled={busy !== ""} onChange={(e) => void send(e.currentTarget.files?.[0])} />
          </label>
          {all?.opener && <p><a href="open/">Open traces in this browser instead</a>, without sending them to that machine.</p>}
        </section>
      </main>
    </div>
  );
}

/** The processes that are watched, or were. */
function Processes({ of, dump }: { of: Source[]; dump?: (of: Source) => void }): JSX.Element {
  return (
    <div class="wide">
      <table class="plain traces">
        <thead><tr><th scope="col">process</th><th scope="col" class="number">pid</th><th scope="col" class="number">GCs</th><th scope="col">heap</th><th scope="col">verdict</th></tr></thead>
        <tbody>
          {of.map((s) => (
            <tr key={s.id}>
              <td><button type="button" disabled={s.collections === 0 && !s.live} onClick={() => show(s)}>{s.name || "process"}</button></td>
              <td class="number pid">{s.pid}</td>
              <td class="number gcs">{count(s.collections)}</td>
              <td>{s.live ? <button type="button" disabled={!dump} title={dump ? undefined : "Another snapshot is being taken."} onClick={() => dump?.(s)}>snapshot</button> : unknown}</td>
              <td>{s.problem ? `${sentence(s.problem).replace(/\.$/, "")}.` : s.verdict ?? (s.live ? "No GC has happened yet." : "Not watched.")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The traces, with what is known of each. */
function Files({ of }: { of: Source[] }): JSX.Element {
  return (
    <div class="wide">
      <table class="plain traces">
        <thead><tr><th scope="col">trace</th><th scope="col">process</th><th scope="col">started (UTC)</th><th scope="col" class="number">length</th><th scope="col" class="number">size</th><th scope="col">verdict</th></tr></thead>
        <tbody>
          {of.map((s) => (
            <tr key={s.id}>
              <td><button type="button" onClick={() => show(s)}>{s.name}</button></td>
              <td>{s.process}</td>
              <td>{s.start && new Date(s.start).toISOString().replace("T", " ").replace(/:\d\d\.\d+Z|:\d\dZ/, "")}</td>
              <td class="number">{s.duration_ms ? duration(s.duration_ms * 1e3) : ""}</td>
              <td class="number">{s.bytes ? bytes(s.bytes) : ""}</td>
              <td>{s.problem ?? s.verdict ?? "Reading …"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
