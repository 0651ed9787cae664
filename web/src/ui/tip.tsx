import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** What explains an element: its title, and those of what it is in. */
function titlesOf(element: Element): string {
  const titles: string[] = [];
  for (let e = element.closest<HTMLElement>("[title]"); e; e = e.parentElement?.closest<HTMLElement>("[title]") ?? null) titles.push(e.title);
  return titles.filter((t) => t !== "").join(" ");
}

/** Shows the title of what has the focus of the keyboard: browsers show titles only to a mouse. */
export function Tip(): JSX.Element | null {
  const [tip, setTip] = useState<{ text: string; box: DOMRect } | null>(null);
  useEffect(() => {
    let of: Element | null = null; // has the focus
    const place = () => {
      const text = of ? titlesOf(of) : "";
      setTip(of && text !== "" ? { text, box: of.getBoundingClientRect() } : null);
    };
    const take = (element: Element | null) => {
      of = element;
      place();
    };
    const heard: Record<string, (event: Event) => void> = {
      focusin: ({ target }) => {
        const element = target instanceof Element && target.matches(":focus-visible") ? target : null;
        if (element?.matches("[title]")) element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
        take(element);
      },
      focusout: () => take(null),
      keydown: (event) => (event as KeyboardEvent).key === "Escape" && take(null),
      scroll: () => of && place(),
    };
    for (const [name, hear] of Object.entries(heard)) addEventListener(name, hear, true);
    return () => {
      for (const [name, hear] of Object.entries(heard)) removeEventListener(name, hear, true);
    };
  }, []);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!tip || !place.current) return;
    const { box } = tip;
    const { offsetWidth: width, offsetHeight: height } = place.current;
    const within = (at: number, most: number) => `${Math.max(8, Math.min(at, most - 8))}px`;
    place.current.style.left = within(box.left, innerWidth - width);
    place.current.style.top = within(box.bottom > innerHeight / 2 ? box.top - height - 6 : box.bottom + 6, innerHeight - height);
  }, [tip]);
  return tip && <div class="tip" ref={place} aria-hidden="true">{tip.text}</div>;
}
