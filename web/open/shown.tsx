import type { JSX } from "preact";
import type { Page } from "./app";
import { useState } from "preact/hooks";
import type { Engine } from "./engine";
import type { Host } from "./host";
import { PartFields } from "./listing";
import type { Part, Request } from "./request";

interface Props {
  page: Page;
  engine: Engine;
  host: Host;
  busy: boolean;
  run: (of: string, request: Request) => Promise<ArrayBuffer | undefined>;
  open: (request: Request) => void;
  close: () => void;
}

/** The page about traces, and what can be saved of them. */
export function Shown({ page, engine, host, busy, run, open, close }: Props): JSX.Element {
  const { request, title } = page;
  const save = async (kind: Request["kind"], suffix: string, format?: string) => {
    const data = await run(title, { ...request, kind, format });
    if (data) host.save(new Blob([data]), name(request) + suffix);
  };
  const single = request.kind !== "diff";
  return (
    <div class="shown">
      <header class="bar">
        {host.first ? <span class="brand">gctrail</span> : <button type="button" class="brand" disabled={busy} onClick={close}>gctrail</button>}
        <h1 class={host.named ? "hidden" : undefined}>{title}</h1>
        {host.hint && <small class="beside">{host.hint}</small>}
        <details class="menu">
          <summary>Save</summary>
          <div class="choices">
            <button type="button" onClick={() => host.save(page.data, `${name(request)}.html`)}>page <small>.html, as it is shown, in one file</small></button>
            {single && <button type="button" disabled={busy} onClick={() => save("report", ".json", "full")}>report <small>.json</small></button>}
            {single && engine.formats.map((f) => (
              <button type="button" key={f.name} disabled={busy} onClick={() => save("convert", f.suffix, f.name)}>{f.name} <small>{f.suffix}, {f.says}</small></button>
            ))}
          </div>
        </details>
        <PartOf key={request} request={request} busy={busy} open={open} />
        {request.redact ? <small>Redacted</small> : <button type="button" disabled={busy} onClick={() => open({ ...request, redact: true })}>Redact</button>}
        {!host.first && <button type="button" disabled={busy} onClick={close}>Open another</button>}
      </header>
      <iframe title={`Report on ${title}`} src={page.url + (host.fragment?.() ?? "")} onLoad={(e) => host.adapt?.(e.currentTarget)} />
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
