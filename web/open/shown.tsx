import type { JSX } from "preact";
import type { Page } from "./app";
import { useState } from "preact/hooks";
import type { Engine } from "./engine";
import { PartFields } from "./listing";
import type { Part, Request } from "./request";

interface Props {
  page: Page;
  engine: Engine;
  busy: boolean;
  run: (of: string, request: Request) => Promise<ArrayBuffer | undefined>;
  open: (request: Request) => void;
  close: () => void;
}

/** The page about traces, and what can be saved of them. */
export function Shown({ page, engine, busy, run, open, close }: Props): JSX.Element {
  const { request, title } = page;
  const save = async (kind: Request["kind"], suffix: string, format?: string) => {
    const data = await run(title, { ...request, kind, format });
    if (data) download(new Blob([data]), name(request) + suffix);
  };
  const savePage = () => {
    const a = link(page.url, `${name(request)}.html`);
    a.click();
  };
  const single = request.kind !== "diff";
  return (
    <div class="shown">
      <header class="bar">
        <button type="button" class="brand" disabled={busy} onClick={close}>gctrail</button>
        <h1>{title}</h1>
        <details class="menu">
          <summary>Save</summary>
          <div class="choices">
            <button type="button" onClick={savePage}>page <small>.html, as it is shown, in one file</small></button>
            {single && <button type="button" disabled={busy} onClick={() => save("report", ".json", "full")}>report <small>.json</small></button>}
            {single && engine.formats.map((f) => (
              <button type="button" key={f.name} disabled={busy} onClick={() => save("convert", f.suffix, f.name)}>{f.name} <small>{f.suffix}, {f.says}</small></button>
            ))}
          </div>
        </details>
        <PartOf key={request} request={request} busy={busy} open={open} />
        {!request.redact && <button type="button" disabled={busy} onClick={() => open({ ...request, redact: true })}>Redact</button>}
        <button type="button" disabled={busy} onClick={close}>Open another</button>
      </header>
      <iframe title={`Report on ${title}`} src={page.url} />
    </div>
  );
}

/** A menu to read another part of the trace. */
function PartOf({ request, busy, open }: { request: Request; busy: boolean; open: (request: Request) => void }): JSX.Element {
  const { process, from, to } = request;
  const [part, setPart] = useState<Part>({ process, from, to });
  return (
    <details class="menu">
      <summary>{process || from || to ? "Part: " + [process, from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(", ") : "Part"}</summary>
      <form class="choices" onSubmit={(e) => { e.preventDefault(); open({ ...request, ...part }); }}>
        <PartFields part={part} set={setPart} />
        <div class="buttons"><button disabled={busy}>Read this part</button></div>
      </form>
    </details>
  );
}

/** The name of files that are made of a trace, without a suffix. A redacted one names nothing. */
function name({ files, redact, kind }: Request): string {
  if (redact) return "redacted";
  if (kind === "diff") return "comparison";
  return files[0].name.replace(/(\.(nettrace|netperf|etl|gcdump|trace|zip|gz|zst|xz|tar))+$/, "");
}

function link(url: string, name: string): HTMLAnchorElement {
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  return a;
}

function download(data: Blob, name: string): void {
  const url = URL.createObjectURL(data);
  link(url, name).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it meanwhile
}
