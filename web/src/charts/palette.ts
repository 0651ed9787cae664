import { useEffect, useState } from "preact/hooks";

/** Colours of the style sheet, for what is drawn. */
export interface Palette {
  text: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  "on-accent": string;
  faded: string;
  gen0: string;
  gen1: string;
  gen2: string;
  background: string;
  loh: string;
  poh: string;
  lost: string;
  key: string;
}

const names = ["text", "muted", "line", "surface", "accent", "on-accent", "faded", "gen0", "gen1", "gen2", "background", "loh", "poh", "lost"] as const;

/** The colours as variables of the style sheet, for elements, which follow it. */
export const variables = Object.fromEntries(["key", ...names].map((name) => [name, `var(--${name})`])) as unknown as Palette;

function current(): Palette {
  const style = getComputedStyle(document.documentElement);
  const palette = { key: "" } as Palette;
  for (const name of names) palette[name] = style.getPropertyValue(`--${name}`).trim();
  palette.key = names.map((name) => palette[name]).join();
  return palette;
}

/** The palette of the printed page. */
export function printed(): Palette {
  const { dataset } = document.documentElement;
  dataset.printing = "";
  const palette = current();
  delete dataset.printing;
  return palette;
}

/** The palette of the theme, also while the page is printed. */
export function usePalette(theme: string): Palette {
  const [palette, set] = useState(current);
  useEffect(() => {
    const update = () => set((old) => { const now = current(); return now.key === old.key ? old : now; });
    update();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const print = matchMedia("print");
    dark.addEventListener("change", update);
    print.addEventListener("change", update);
    return () => {
      dark.removeEventListener("change", update);
      print.removeEventListener("change", update);
    };
  }, [theme]);
  return palette;
}

/** A colour, #rrggbb, for an area below a line of it. */
export function tint(colour: string): string {
  return `${colour}70`;
}
