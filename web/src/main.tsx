import { render } from "preact";
import "./plot.css";
import "./base.css";
import "./style.css";
import { nextTask } from "./data/pause";
import { fromServer, onServer } from "./data/server";
import { fromPage } from "./data/source";
import { read } from "./state/state";
import { Store } from "./state/store";
import { App } from "./ui/app";
import { Home } from "./ui/home";

async function start(): Promise<void> {
  const place = document.getElementById("app")!;
  if (!("DecompressionStream" in window)) {
    say(place, "This page needs a browser of 2023 or later: Chrome 103, Edge 103, Firefox 113, Safari 16.4.");
    return;
  }
  try {
    await nextTask();
    const { source } = read(location.hash);
    if (onServer() && source === "") {
      render(<Home />, place);
    } else {
      const store = new Store(onServer() ? await fromServer(source) : await fromPage());
      await store.selected;
      place.replaceChildren();
      render(<App store={store} />, place);
      store.data.follow?.(() => store.grown());
    }
    document.documentElement.dataset.ready = "";
    performance.mark("ready");
  } catch (error) {
    say(place, `The data of this page cannot be read: ${error instanceof Error ? error.message : error}`);
    throw error;
  }
}

function say(place: HTMLElement, words: string): void {
  const p = document.createElement("p");
  p.className = "failure";
  p.setAttribute("role", "alert");
  p.textContent = words;
  place.append(p);
}

void start();
