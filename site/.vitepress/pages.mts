// The pages of the site: which files of the repository they are, and how the menus list them.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. */
export const root = join(import.meta.dirname, "../..");

/** The menu beside a page: groups of files of docs, without their suffix. */
const groups: Record<string, string[]> = {
  "Use it": ["install", "collect", "targets", "top", "serve", "html", "browser", "vscode", "commands"],
  "Find the cause": ["findings", "textbook/README", "figures", "allocs", "heap", "dump", "requests", "what-if", "try"],
  "Compare and check": ["compare", "ci", "convert"],
  "Many processes": ["agent", "fleet", "ledger", "deploy"],
  "Platforms": ["platforms", "windows", "overhead", "emit", "gogc"],
  "How it works": ["architecture", "diagnostics", "format/nettrace", "format/etl", "format/ctf", "mutation", "releasing"],
};

/** Files of the repository that are pages besides docs, and their addresses on the site. */
const others: Record<string, string> = {
  "README.md": "index.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "testdata/README.md": "testdata.md",
};

/** Returns the address of the page that a file of the repository is, if it is one. */
export function pageOf(file: string): string | undefined {
  if (file.startsWith("docs/") && file.endsWith(".md")) return file.slice("docs/".length).replace(/\bREADME\.md$/, "index.md");
  return others[file];
}

/** Patterns of the files that are no pages. */
export const excluded = ["testdata/*/**", ...readdirSync(root).filter((name) => !["docs", "testdata"].includes(name) && !others[name]).flatMap((name) => [name, `${name}/**`])];

/** Returns the heading of a file, which menus name it by. */
function heading(file: string): string {
  const line = readFileSync(join(root, file), "utf8").split("\n").find((l) => l.startsWith("# "));
  if (!line) throw new Error(`${file} has no heading`);
  return line.slice("# ".length);
}

function entry(file: string): { text: string; link: string } {
  return { text: heading(file), link: "/" + pageOf(file)!.replace(/(index)?\.md$/, "") };
}

/** Returns the menu of the textbook: its pages, one for each rule. */
export function textbook() {
  const files = readdirSync(join(root, "docs/textbook")).filter((f) => f.startsWith("R") && f !== "README.md").sort();
  return [
    { text: "All documents", link: "/" },
    { text: heading("docs/textbook/README.md"), link: "/textbook/", items: files.map((f) => entry(`docs/textbook/${f}`)) },
  ];
}

/** Returns the menu of all pages but those of the textbook. */
export function documents() {
  const listed = new Set(Object.values(groups).flat().map((name) => `docs/${name}.md`));
  const all = ["docs", "docs/format"].flatMap((dir) => readdirSync(join(root, dir)).filter((f) => f.endsWith(".md")).map((f) => `${dir}/${f}`));
  const more = all.filter((file) => !listed.has(file));
  const menu = Object.entries(groups).map(([text, names]) => ({ text, items: names.map((name) => entry(`docs/${name}.md`)) }));
  if (more.length > 0) menu.push({ text: "More", items: more.map(entry) });
  menu.push({ text: "The project", items: ["CHANGELOG.md", "CONTRIBUTING.md", "testdata/README.md"].map(entry) });
  return menu;
}
