import type { JSX } from "preact";
import type { Document, Finding, Process as ProcessReport, ProcessTotals } from "../data/report";
import { marks, noTotals, sums, wholeOf, type Accuracy } from "../state/selection";
import { pickOf } from "../state/state";
import { useStore, type Store } from "../state/store";
import { count, bytes, duration, percent, plural, rate, unknown } from "../units";
import { Command, Figure, Term, explain, sentence } from "./parts";

/** How bad a verdict is, by its code. */
export const codes: Record<string, string> = {
  innocent: "good", within_budget: "good", long_pauses: "warning", costs_time: "warning", suspended: "warning", problem: "problem", no_collections: "unknown", no_verdict: "unknown",
};

/** The verdict on a process, and what it is of. */
export function Verdict({ store }: { store: Store }): JSX.Element {
  const p = useStore(store, (s) => s.process);
  useStore(store, (s) => s.version);
  const trace = p?.trace ?? store.data.head.traces[0];
  const report = p?.report;
  const code = report?.verdict_code ?? trace?.report.verdict_code ?? "no_verdict";
  const h = p?.header;
  const length = duration(trace?.last_us || p?.end);
  const watched = duration((report?.totals.watched_ms ?? NaN) * 1e3);
  const facts = [
    p?.title,
    h?.runtime,
    h && h.server !== null ? (h.server ? "server GC" : "workstation GC") : "",
    [h?.os, h?.arch].filter(Boolean).join(" "),
    trace && `${length} of ${trace.report.format.replace("etl", "ETL")}${store.data.follow || [length, unknown].includes(watched) ? "" : `, watched for ${watched}`}`,
    trace && new Date(trace.start).toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC"),
  ].filter(Boolean);
  return (
    <section class={`verdict ${codes[code] ?? "unknown"}`} aria-label="Verdict">
      <p class="sentence">{report?.verdict ?? trace?.report.verdict ?? "No GC was recorded."}</p>
      <p class="facts">{facts.join(" · ")}</p>
      {report?.memory && <p class="facts">Memory: {report.memory.says}.</p>}
      {h?.command_line && <p class="facts line" title={h.command_line} tabIndex={0}><code>{h.command_line}</code></p>}
      {trace && <Missing report={trace.report} process={report} />}
    </section>
  );
}

/** What the trace lacks, beside the verdict that rests on it. */
function Missing({ report, process }: { report: Document; process: ProcessReport | null | undefined }): JSX.Element | null {
  const { lost } = report;
  const incomplete = process?.totals.incomplete ?? 0;
  const parts = [
    lost.cut && `the trace is truncated: it ends at ${duration(report.duration_ms * 1e3)}, its program or collector was stopped, or the copy of the file is incomplete`,
    lost.events > 0 && `${lost.events_is === "exact" ? "" : "at least "}${plural(lost.events, "event")} lost`,
    lost.events === 0 && lost.events_is !== "exact" && lost.at.length > 0 && "an unknown number of events is missing",
    lost.left_out > 0 && `${plural(lost.left_out, "event")} of further processes left out`,
    lost.damaged > 0 && `${plural(lost.damaged, "place")} cannot be read`,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  if (incomplete > 0) parts.push(`${plural(incomplete, "GC")} incomplete`);
  return <p class="missing" role="note"><b>Missing:</b> {parts.join("; ")}. See <a href="#evidence-title" onClick={(e) => { e.preventDefault(); document.getElementById("evidence-title")?.scrollIntoView({ block: "start" }); }}>Quality of evidence</a>.</p>;
}

const accuracies: Record<Accuracy, string | undefined> = {
  "~": "An estimate: the program allocates while a background GC runs.",
  ">": "At least: the trace lacks some GCs' sizes, or what follows the last GC.",
  "": undefined,
};

function allocationRate(whole: ProcessTotals | undefined): string | undefined {
  const perSecond = whole?.allocated_bytes_per_s;
  return perSecond ? marked(marks[whole.allocated_bytes_per_s_is ?? ""] ?? "", rate(perSecond)) : undefined;
}

const lowerBound = "At least: the trace lacks the pauses of some GCs, or lost events of them.";

const notAll = "The trace lacks GCs: the numbers of later ones show that they ran.";

/** A figure behind its mark, as reports write it: what is unknown, or has another sign, has none. */
export function marked(is: Accuracy, text: string): string {
  return text === unknown || text.startsWith("<") ? text : is + text;
}

/** Why figures of some of a process's collections are uncertain. */
function doubts(follow: boolean, report: ProcessReport | null): string {
  if (follow) return "still running, or incomplete";
  const { incomplete = 1, affected_by_loss = 1 } = report?.totals ?? {};
  return [incomplete > 0 && "incomplete", affected_by_loss > 0 && "beside lost events"].filter(Boolean).join(", or ");
}

/** Figures over the selected collections. The pauses of all are as in the verdict. */
export function Figures({ store }: { store: Store }): JSX.Element | null {
  const selection = useStore(store, (s) => s.selection);
  const state = useStore(store, (s) => s.state);
  useStore(store, (s) => s.version);
  const p = store.process;
  if (!p) return null;
  const t = selection.process === p ? selection.totals : noTotals;
  const watched = t.to - t.from;
  const head = store.data.head;
  const whole = wholeOf(p, state);
  const totals = (store.data.follow || p.header.rows_left_out === 0) && whole?.pause_ms != null ? whole : undefined;
  const paused = totals?.pause_ms != null ? { us: totals.pause_ms * 1e3, watched: (totals.watched_ms ?? 0) * 1e3 } : { us: t.pause, watched };
  const pct = totals?.pause_pct ?? (paused.watched > 0 && t.longestRow >= 0 ? (100 * paused.us) / paused.watched : null);
  const { allocated, freed } = sums(t, whole);
  const is = p.header.missing > 0 ? ">" : "";
  const lacks = is && notAll;
  return (
    <dl class="figures" aria-label="Figures of the selected GCs" aria-live="polite">
      <Figure label={<Term head={head} name="collection">GCs</Term>} value={marked(is, count(t.count))} title={lacks} note={t.count === selection.of || Number.isNaN(t.count) ? undefined : `of ${count(selection.of)}`} />
      <Figure label={<Term head={head} name="pause">total pause</Term>} value={t.pauseIs + duration(paused.us)} title={[t.pauseIs && lowerBound, whole && explain(head, "watched")].filter(Boolean).join(" ")} note={pct !== null ? `${marked(t.pauseIs, percent(pct))} of ${duration(paused.watched)}` : undefined} />
      <Figure label="longest pause" value={marked(is, duration(t.longest))} title={lacks} note={t.longestRow >= 0 ? `GC ${p.get("number")[t.longestRow]}` : undefined} />
      <Figure label="p99 pause" value={duration(t.p99)} title={lacks} />
      <Figure label={<Term head={head} name="allocated">allocated</Term>} value={allocated.is + bytes(allocated.bytes)} title={accuracies[allocated.is]} note={allocationRate(whole)} />
      <Figure label={<Term head={head} name="freed">freed</Term>} value={freed.is + bytes(freed.bytes)} title={accuracies[freed.is]} />
      <Figure label={<Term head={head} name="promoted">promoted</Term>} value={t.promotedIs + bytes(t.promoted)} title={accuracies[t.promotedIs]} />
      <Figure label="largest heap" value={marked(is, bytes(t.largest))} title={lacks} />
      <Figure label={<Term head={head} name="induced">induced</Term>} value={marked(t.induced > 0 ? is : "", count(t.induced))} title={lacks} note={t.induced > 0 ? percent((100 * t.induced) / t.count) + (t.notForced > 0 ? `, ${count(t.notForced)} not forced` : "") : undefined} />
      {t.doubtful > 0 && <Figure label="uncertain" value={count(t.doubtful)} note={doubts(store.data.follow !== undefined, p.report)} />}
    </dl>
  );
}

/** What the trace holds, and what it lacks. */
export function Evidence({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  useStore(store, (s) => s.version);
  const trace = p?.trace ?? store.data.head.traces[0];
  if (!trace) return null;
  const { report, beside } = trace;
  const next = report.next.filter((command) => !report.cannot_tell.some((gap) => gap.command === command));
  const { lost } = report;
  const whole = lost.events === 0 && lost.events_is === "exact" && lost.left_out === 0 && !lost.cut && lost.damaged === 0 && lost.at.length === 0;
  const totals = p?.report?.totals;
  return (
    <section class="evidence" aria-labelledby="evidence-title">
      <h2 id="evidence-title">Quality of evidence</h2>
      <ul class="checks">
        {lost.events > 0 ? <li class="problem">{`${lost.events_is === "exact" ? "" : "At least "}${plural(lost.events, "event")} lost`}</li>
          : <li class={whole ? "good" : "warning"}>{whole ? "No events lost" : "Lost events: unknown"}</li>}
        {store.data.follow ? <li class="good">{`Watched live for ${duration(report.duration_ms * 1e3)}`}</li>
          : <li class={lost.cut ? "warning" : "good"}>{lost.cut ? "The trace is truncated" : "The trace is complete to its end"}</li>}
        {lost.left_out > 0 && <li class="warning">{plural(lost.left_out, "event")} of further processes left out</li>}
        {lost.damaged > 0 && <li class="problem">{plural(lost.damaged, "place")} cannot be read</li>}
        {lost.late > 0 && <li class="warning">{plural(lost.late, "event")} came late</li>}
        {totals && totals.incomplete > 0 && <li class="warning">{plural(totals.incomplete, "GC")} incomplete</li>}
        {totals && totals.affected_by_loss > 0 && <li class="warning">{plural(totals.affected_by_loss, "GC")} affected by lost events</li>}
        {p && p.header.rows_left_out > 0 && <li class="warning">This page leaves out {plural(p.header.rows_left_out, "GC")}: use --from and --to</li>}
        {whole && lost.late === 0 && totals?.incomplete === 0 && !p?.columns.get("complete")?.subarray(0, p.rows).includes(0) && <li class="good">All GCs are complete</li>}
      </ul>
      {beside && <p class="hint">Files beside the trace: {beside}.</p>}
      {report.collected.providers.length > 0 && <details>
        <summary>Recorded: {plural(report.collected.providers.length, "provider")}</summary>
        <table class="plain">
          <thead><tr><th scope="col">provider</th><th scope="col">keywords</th><th scope="col" class="number">level</th><th scope="col" class="number">events</th></tr></thead>
          <tbody>
            {report.collected.providers.map((c) => (
              <tr key={c.name}><td>{c.name}</td><td><code>{c.keywords_hex}</code></td><td class="number">{c.level}</td><td class="number">{count(c.events)}</td></tr>
            ))}
          </tbody>
        </table>
      </details>}
      {report.cannot_tell.length > 0 && (
        <>
          <h3>Not recorded in this trace</h3>
          <ul class="gaps">
            {report.cannot_tell.map((gap) => (
              <li key={gap.what}>
                {gap.what}
                {gap.command && <Command text={gap.command} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {!p?.rows && next.length > 0 && (
        <div class="next">
          <h3>Next</h3>
          {next.map((command) => <Command key={command} text={command} />)}
        </div>
      )}
    </section>
  );
}

/** What was found, what matters most first. */
export function Findings({ store }: { store: Store }): JSX.Element | null {
  const p = useStore(store, (s) => s.process);
  useStore(store, (s) => s.version);
  if (!p?.report) return null;
  const { findings } = p.report;
  return (
    <section class="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      {findings.length === 0 && <p class="hint">No rule fired.</p>}
      <ol>
        {findings.map((f, i) => (
          <li key={f.id} class={f.severity}>
            <FindingCard finding={f} store={store} open={i < 2} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The collections that a finding quotes, in words. A running process keeps the latest of them. */
function showing(f: Finding, store: Store): string {
  if (f.collections_in_all === 1) return `GC ${f.collections[0]}`;
  const kept = store.data.quotes ?? Infinity;
  return f.collections_in_all > kept ? `the latest ${count(kept)} of these ${count(f.collections_in_all)} GCs` : `these ${count(f.collections_in_all)} GCs`;
}

function FindingCard({ finding: f, store, open }: { finding: Finding; store: Store; open: boolean }): JSX.Element {
  const pick = useStore(store, (s) => s.state.pick);
  const condition = pickOf(f.id);
  const shown = pick === condition;
  const show = () => {
    store.set(shown ? { pick: "" } : { pick: condition, from: null, to: null, where: "" });
    if (!shown) document.getElementById("collections")?.scrollIntoView({ block: "start" });
  };
  return (
    <details open={open}>
      <summary>
        <span class="badge">{f.severity}</span>
        <span class="title">{sentence(f.title)}</span>
        <span class="rule">{f.id}, {f.confidence} confidence</span>
      </summary>
      <p>{f.says}</p>
      {f.collections.length > 0 && (
        <button type="button" class="show" aria-pressed={shown} onClick={show}>
          {shown ? "Show all GCs again" : `Show me ${showing(f, store)}`}
        </button>
      )}
      {f.advice.length > 0 && <ul class="advice">{f.advice.map((a) => <li key={a}>{a}</li>)}</ul>}
      {f.callers.length > 0 && (
        <table class="plain">
          <thead><tr><th scope="col">called from</th><th scope="col" class="number">calls</th></tr></thead>
          <tbody>{f.callers.map((c) => <tr key={c.method}><td class="code">{c.method}</td><td class="number">{count(c.calls)}</td></tr>)}</tbody>
        </table>
      )}
      {f.types.length > 0 && (
        <table class="plain">
          <thead><tr><th scope="col">type</th><th scope="col" class="number">of its heap</th><th scope="col">mostly from</th></tr></thead>
          <tbody>{f.types.map((t) => <tr key={t.type + t.heap}><td class="code">{t.type}</td><td class="number">{percent(t.share_of_heap_pct)}</td><td class="code">{t.from}</td></tr>)}</tbody>
        </table>
      )}
      {f.settings.map((s) => (
        <div class="setting" key={s.env}>
          <Command text={`${s.env}=${s.env_value_hex}`} />
          {s.runtimeconfig && <p class="hint">or in runtimeconfig.json: <code>"{s.runtimeconfig}": {s.runtimeconfig_value}</code>{s.since ? `, from ${s.since} on` : ""}</p>}
          <p>{sentence(s.effect)}.{s.cost && ` Cost: ${s.cost}.`}</p>
        </div>
      ))}
      {f.next.map((n) => (
        <div key={n.command}>
          <p class="hint">{sentence(n.purpose)}:</p>
          <Command text={n.command} />
        </div>
      ))}
    </details>
  );
}
