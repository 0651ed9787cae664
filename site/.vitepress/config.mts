// The site: the documents of the repository as they are, with the page that opens traces at open/.
// .ci/site builds all of it.

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { anchor, documents as ofRepository, examples } from "./links.mts";
import { documents, excluded, pageOf, root, textbook } from "./pages.mts";
import { withPolicy } from "./policy.mts";

const base = process.env.SITE_BASE ?? "/gctrail/";

/** Gives the page at open/ the traces that pages link to, and their list: it opens no others. */
function writeExamples(outDir: string): void {
  const folder = join(outDir, "open/examples");
  mkdirSync(folder, { recursive: true });
  const names = [...examples].sort();
  for (const name of names) {
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(name)) throw new Error(`${name} is no name of an example`);
    const path = ["testdata", "testdata/cures"].map((dir) => join(root, dir, name)).find(existsSync);
    if (!path) throw new Error(`there is no trace ${name}`);
    copyFileSync(path, join(folder, name));
  }
  writeFileSync(join(folder, "list.json"), JSON.stringify(names) + "\n");
}

/** Finds packages for the documents, which are not in the folder that has them. */
const packages = {
  name: "packages",
  enforce: "pre" as const,
  resolveId(this: { resolve(source: string, importer: string, options: object): Promise<{ id: string } | null> }, source: string, importer: string | undefined, options: object) {
    if (!/^\w/.test(source) || !importer?.split("?")[0].endsWith(".md")) return null;
    return this.resolve(source, join(import.meta.dirname, "config.mts"), { ...options, skipSelf: true });
  },
};

export default defineConfig({
  title: "gctrail",
  description: "Reads the garbage collection events of .NET: whether the GC is to blame, what it cost, and what to change",
  lang: "en",
  base,
  srcDir: root,
  srcExclude: excluded,
  outDir: process.env.SITE_OUT ?? join(root, "build/site"),
  rewrites: (file) => pageOf(file) ?? file,
  lastUpdated: false,
  metaChunk: true,
  head: [["link", { rel: "icon", href: `${base}icon.svg` }], ["meta", { name: "referrer", content: "no-referrer" }]],
  markdown: {
    html: false, // such as ArrayPool<T>
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchor },
    toc: { slugify: anchor },
    headers: { level: [2, 3], slugify: anchor },
    config: (md) => ofRepository(md as never, base),
  },
  ignoreDeadLinks: [/\/open\//], // which is not a page of this generator; test/browser checks these links
  vite: { plugins: [packages], build: { chunkSizeWarningLimit: 4096 } }, // the index of the search has 1 MB
  transformHtml: withPolicy,
  buildEnd: ({ outDir }) => writeExamples(outDir),
  themeConfig: {
    search: { provider: "local", options: { translations: { button: { buttonText: "Search: press /", buttonAriaLabel: "Search: press /" } } } },
    outline: [2, 3],
    nav: [
      { text: "Open a trace", link: "/open/", target: "_self" },
      { text: "Textbook", link: "/textbook/" },
      { text: "Findings", link: "/findings" },
      { text: "Commands", link: "/commands" },
    ],
    sidebar: { "/": documents(), "/textbook/": textbook() },
    socialLinks: [{ icon: "github", link: "https://github.com/gctrail/gctrail" }],
    footer: { message: "MIT licence. This site asks nobody but its own server for anything.", copyright: ".NET is a trademark of Microsoft; this project is not affiliated with Microsoft." },
  },
});
