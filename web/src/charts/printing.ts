// What changes while the page is printed. Browsers draw nothing between beforeprint and the
// printed page, so that canvases have to be drawn anew at once.

import { useEffect, useRef } from "preact/hooks";

/** The width of drawings on paper, in CSS pixels: A4 and Letter have room for it. */
export const printWidth = 680;

const listeners = new Set<(begins: boolean) => void>();
let printing = false;

for (const begins of [true, false]) {
  addEventListener(begins ? "beforeprint" : "afterprint", () => {
    printing = begins;
    for (const listener of listeners) listener(begins);
  });
}

/** Reports whether the page is being printed. */
export const isPrinting = () => printing;

/** Calls back before and after the page is printed. */
export function usePrinting(callback: (begins: boolean) => void): void {
  const latest = useRef(callback);
  latest.current = callback;
  useEffect(() => {
    const listener = (begins: boolean) => latest.current(begins);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
}

/** What is folded, except the parts of controls. */
const folded = "main details:not([open], .grammar, .chooser)";

/** Opens all that the page folds while it is printed, and folds it again. */
export function useUnfolded(): void {
  const opened = useRef(new Set<HTMLDetailsElement>());
  usePrinting((begins) => {
    if (begins) for (const details of document.querySelectorAll<HTMLDetailsElement>(folded)) opened.current.add(details);
    for (const details of opened.current) details.open = begins;
    if (!begins) opened.current.clear();
  });
}
