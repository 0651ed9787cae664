// Clicks on names in the page of a trace.

/** Hears which names are to be shown in the source. A name whose click does something else takes Ctrl, or ⌘, too. */
export function listen(page: Document, source: (name: string) => void): void {
  const go = (event: Event, name: string | undefined) => {
    if (!name) return;
    event.preventDefault();
    event.stopPropagation();
    source(name);
  };
  page.addEventListener("click", (event) => go(event, clicked(event)), true);
  page.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go(event, named(event.target as Element));
  }, true);
  // Names look as links do while the pointer is on them.
  page.styleSheets[0]?.insertRule(":is(td.code, span.code, .way > span):not(:has(button)):hover { text-decoration: underline; cursor: pointer; }");
}

function clicked(event: MouseEvent): string | undefined {
  const target = event.target as Element;
  const modified = event.ctrlKey || event.metaKey;
  if (!modified && (target.closest("button, a, canvas, summary") || target.ownerDocument.getSelection()?.toString())) return undefined;
  return named(target);
}

/** Finds the name that an element belongs to. */
function named(target: Element): string | undefined {
  if (target.matches("canvas")) return target.closest(".flame")?.querySelector(".pointed")?.textContent?.split(": ")[0]; // its boxes are drawn
  const step = target.closest(".way > span");
  const cell = target.closest(".code") ?? target.querySelector(".code");
  const of = step ?? cell?.querySelector("button") ?? cell;
  const text = of?.textContent?.replace(/^[\s→▸▾]+/, "").trim();
  return text && text !== "…" ? text : undefined;
}
