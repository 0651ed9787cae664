// Examples: traces beside the page, which its address may ask for, as links of the documentation
// do: ?trace=NAME, several of them to open together, or ?before=NAME&after=NAME to compare two.

import type { Request } from "./request";

/** What the address of the page asks for. */
export interface Asked {
  names: string[];
  kind: "page" | "diff";
}

/** Returns what a query asks for, if anything. */
export function asked(query: string): Asked | null {
  const values = new URLSearchParams(query);
  const [together, before, after] = ["trace", "before", "after"].map((key) => values.getAll(key));
  if (together.length > 0) return { names: together, kind: "page" };
  return before.length === 1 && after.length === 1 ? { names: [...before, ...after], kind: "diff" } : null;
}

/**
 * Fetches what is asked for. Only a name in the list of the page's server is asked for, so that
 * a link cannot have the page fetch anything else.
 */
export async function fetched({ names, kind }: Asked): Promise<Request> {
  const listed: unknown = await (await beside("list.json")).json();
  const files = await Promise.all(names.map(async (name) => {
    if (!Array.isArray(listed) || !listed.includes(name)) throw new Error(`${name} is no example of this page`);
    return new File([await (await beside(name)).blob()], name);
  }));
  return kind === "diff" ? { kind, files, before: 1, redact: false } : { kind, files, redact: false };
}

/** Fetches a file of the folder of examples. */
async function beside(name: string): Promise<Response> {
  const response = await fetch(`examples/${encodeURIComponent(name)}`).catch(() => null);
  if (!response?.ok) throw new Error(`there is no examples/${name} beside this page`);
  return response;
}
