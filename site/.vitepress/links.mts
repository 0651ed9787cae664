// Links of the documents: they are written so that they work in the repository, and are made to
// work on the site.

import { existsSync, statSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { pageOf, root } from "./pages.mts";

const repository = "https://github.com/gctrail/gctrail";

/** Where the site is published. The documents link to it for what only the site has. */
export const published = "https://gctrail.github.io/gctrail/";

/** The files that the page at open/ is given to open, by the links to it. */
export const examples = new Set<string>();

/** Returns the anchor of a heading as GitHub makes it. */
export function anchor(text: string): string {
  return text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M} _-]/gu, "").replace(/ /g, "-");
}

/** Returns where a link of a file, which is named from the root of the repository, leads to on the site. */
export function target(href: string, file: string): string {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path, fragment] = href.split("#");
  const of = posix.normalize(posix.join(posix.dirname(file), decodeURIComponent(path)));
  if (of.startsWith("..") || !existsSync(join(root, of))) throw new Error(`${file}: ${href}: there is no ${of}`);
  const page = pageOf(of);
  if (page) return "/" + page.replace(/\.md$/, ".html").replace(/(^|\/)index\.html$/, "$1") + (fragment ? `#${fragment}` : "");
  return `${repository}/${statSync(join(root, of)).isDirectory() ? "tree" : "blob"}/main/${of.replace(/\/$/, "")}`;
}

/** Returns the address of what only the site has, and which is no page of the generator. */
function onSite(path: string, base: string): string {
  for (const value of new URLSearchParams(path.split("?")[1]).values()) examples.add(value);
  return base + path;
}

interface Token {
  type: string;
  info: string;
  content: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface Markdown {
  core: { ruler: { push(name: string, rule: (state: { tokens: Token[]; env: { path: string; realPath?: string } }) => void): void; before(next: string, name: string, rule: (state: { src: string }) => void): void } };
}

/** Has Markdown take out comments, which would be shown where it takes no HTML, show all code alike, and lead links to the site. */
export function documents(md: Markdown, base: string): void {
  md.core.ruler.before("normalize", "comments", (state) => {
    state.src = state.src.replace(/^<!--.*-->\n/gm, "");
  });
  md.core.ruler.push("links", ({ tokens, env }) => {
    const file = relative(root, env.realPath ?? env.path);
    for (const token of tokens) if (token.type === "code_block" || ["console", "alloy"].includes(token.info)) Object.assign(token, { type: "fence", info: "text" });
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href?.startsWith(published)) {
        token.attrSet("href", onSite(href.slice(published.length), base));
        token.attrSet("target", "_self"); // VitePress would look for a page of its own
      } else if (href) {
        token.attrSet("href", target(href, file));
      }
    }
  });
}
