import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** Writes the licences of the packages that are in the page. */
function licences(names) {
  return {
    name: "licences",
    generateBundle() {
      const of = (name, file) => readFileSync(`node_modules/${name}/${file}`, "utf8");
      const source = names.map((name) => `${name} ${JSON.parse(of(name, "package.json")).version}\n\n${of(name, "LICENSE").trim()}\n`).join("\n");
      this.emitFile({ type: "asset", fileName: "LICENSES", source });
    },
  };
}

// One script and one style sheet, which Go embeds and writes into each page.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [licences(["preact", "uplot"])],
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    cssCodeSplit: false,
    reportCompressedSize: false,
    lib: {
      entry: "src/main.tsx",
      name: "gctrail",
      formats: ["iife"],
      fileName: () => "page.js",
      cssFileName: "page",
    },
  },
  define: { "process.env.NODE_ENV": '"production"' },
});
