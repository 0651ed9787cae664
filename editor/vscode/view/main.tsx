// The page in an editor of VS Code: the page that opens traces, with the files that the editor
// has read.

import { render } from "preact";
import "../../../web/src/base.css";
import "../../../web/open/style.css";
import { App } from "../../../web/open/app";
import { Engine } from "../../../web/open/engine";
import type { Host } from "../../../web/open/host";
import type { FromPage, ToPage } from "../src/messages";
import { forward } from "./keys";
import { listen } from "./names";
import { colour, tell, theme } from "./theme";
import "./style.css";

/** What VS Code defines in webviews. */
declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const code = acquireVsCodeApi();
const place = document.getElementById("app")!;
const engine = new Engine();
let shown: HTMLIFrameElement | null = null;

const host: Host = {
  named: true,
  hint: "Click a name for its source; Ctrl+click where a click does something else.",
  save: async (data, name) => code.postMessage({ kind: "save", name, data: await data.arrayBuffer() }),
  fragment: () => (theme().contrast ? "" : `#theme=${theme().dark ? "dark" : "light"}`), // adapt sets the colours of contrast, and then the theme
  adapt(frame) {
    shown = frame;
    tell(frame);
    const style = frame.contentDocument!.styleSheets[0];
    style?.insertRule(".themes { display: none !important; }"); // the theme is VS Code's
    style?.insertRule("header.bar:not(:has(button)) { display: none; }"); // and so is the name
    forward(frame.contentWindow!);
    listen(frame.contentDocument!, (name) => code.postMessage({ kind: "source", name }));
  },
};

addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
  if (data.kind === "failed") {
    place.innerHTML = "";
    render(<p class="again failure" role="alert">{data.why}</p>, place);
  }
  if (data.kind === "open") {
    const files = data.files.map((file) => new File([file.data as Uint8Array<ArrayBuffer>], file.name));
    place.innerHTML = "";
    render(<App engine={engine} host={{ ...host, first: { ...data.task, files, redact: false } }} />, place);
  }
});

let last = theme();
new MutationObserver(() => {
  const now = theme();
  if (now.dark === last.dark && now.contrast === last.contrast) return;
  last = now;
  colour(document.documentElement);
  if (shown?.isConnected) tell(shown);
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
colour(document.documentElement);
code.postMessage({ kind: "ready" });
