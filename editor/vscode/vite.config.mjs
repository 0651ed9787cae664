import { defineConfig } from "vite";

const shared = { target: "es2022", outDir: "dist", reportCompressedSize: false };

// The extension, which has no other module than vscode, so that it runs in browsers, too; and
// the page in its editors: vite build --mode view.
export default defineConfig(({ mode }) => {
  if (mode === "view") {
    return {
      oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
      define: { "process.env.NODE_ENV": '"production"' },
      resolve: { dedupe: ["preact"] },
      build: {
        ...shared,
        emptyOutDir: false,
        cssCodeSplit: false,
        lib: { entry: "view/main.tsx", name: "gctrail", formats: ["iife"], fileName: () => "view.js", cssFileName: "view" },
      },
    };
  }
  return {
    build: {
      ...shared,
      lib: { entry: "src/extension.ts", formats: ["cjs"], fileName: () => "extension.js" },
      rolldownOptions: { external: ["vscode"] },
    },
  };
});
