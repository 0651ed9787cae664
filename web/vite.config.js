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

const shared = {
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  define: { "process.env.NODE_ENV": '"production"' },
};

/** Builds one script, and its style sheet if it has one. */
function script(entry, outDir, name) {
  return {
    target: "es2022",
    outDir,
    emptyOutDir: name === "page" || name === "main", // the first of each folder
    cssCodeSplit: false,
    reportCompressedSize: false,
    lib: { entry, name: "gctrail", formats: ["iife"], fileName: () => `${name}.js`, cssFileName: name },
  };
}

// The page about a trace, which Go embeds and writes into each page, and the parts of the page
// that opens traces, which deploy/release packs: vite build --mode PART.
export default defineConfig(({ mode }) => {
  if (mode === "production") return { ...shared, plugins: [licences(["preact", "uplot"])], build: script("src/main.tsx", "../internal/assets/page", "page") };
  return { ...shared, build: script(`open/${mode}.ts${mode === "main" ? "x" : ""}`, "dist/open", mode) };
});
