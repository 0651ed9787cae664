import { render } from "preact";
import "../src/base.css";
import "./style.css";
import { Engine } from "./engine";
import { App } from "./app";
import { tab } from "./host";

const place = document.getElementById("app")!;
if ("DecompressionStream" in window && "WebAssembly" in window) {
  render(<App engine={new Engine()} host={tab} />, place);
  // Where there are no service workers, such as in a file, the page works without them.
  const { module, offline } = document.documentElement.dataset;
  if (module && offline !== "no") void navigator.serviceWorker?.register("offline.js").catch(() => {});
} else {
  place.textContent = "This page needs a browser of 2023 or later: Chrome 103, Edge 103, Firefox 113, Safari 16.4.";
}
