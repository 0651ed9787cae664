import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Header } from "../data/header";

/** A command to copy. */
export function Command({ text }: { text: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      // The text can be selected.
    }
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy the command ${text}`}>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}

/** A word with its definition. */
export function Term({ head, name, children }: { head: Header; name: string; children: ComponentChildren }): JSX.Element {
  const term = head.terms.find((t) => t.name.toLowerCase() === name.toLowerCase());
  return term ? <abbr tabIndex={0} title={`${term.text} (${term.unit})`}>{children}</abbr> : <>{children}</>;
}

/** What a word means, empty where that is not known. */
export function explain(head: Header, name: string): string {
  return head.terms.find((t) => t.name === name)?.text ?? "";
}

/** The direction of a sorted column: null where a table is sorted by another one. */
export type Direction = "ascending" | "descending" | null;

/** A heading that sorts. */
export function SortHeading({ label, direction, kind, title, sort }: { label: string; direction: Direction; kind: string; title?: string; sort: () => void }): JSX.Element {
  return (
    <th scope="col" class={kind} aria-sort={direction ?? "none"}>
      <button type="button" title={title} onClick={sort}>{label}{direction && <span aria-hidden="true">{direction === "ascending" ? " ▴" : " ▾"}</span>}</button>
    </th>
  );
}

/** Text with the first letter in upper case. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Plays the role of a table's cell for a figure. */
export function Figure({ label, value, note, title }: { label: ComponentChildren; value: string; note?: string; title?: string }): JSX.Element {
  return (
    <div class="figure" title={title}>
      <dt>{label}</dt>
      <dd>
        {value}
        {note && <small>{note.replace(/(\d) (?=\S)/g, "$1\u00a0")}</small>}
      </dd>
    </div>
  );
}
