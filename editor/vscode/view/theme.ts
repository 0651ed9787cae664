// The colours of VS Code, for pages that have their own light and dark ones.

/** How VS Code looks, by what it notes in the body of each webview. */
export interface Theme {
  dark: boolean;
  contrast: boolean;
}

export function theme(): Theme {
  const { classList } = document.body;
  const light = classList.contains("vscode-light") || classList.contains("vscode-high-contrast-light");
  return { dark: !light, contrast: classList.contains("vscode-high-contrast") };
}

/** Which colours of VS Code stand for those of a page, where contrast is to be high. */
const contrasting: Record<string, string> = {
  "--page": "--vscode-editor-background",
  "--surface": "--vscode-editor-background",
  "--raised": "--vscode-editor-background",
  "--text": "--vscode-editor-foreground",
  "--muted": "--vscode-editor-foreground",
  "--line": "--vscode-contrastBorder",
  "--accent": "--vscode-textLink-foreground",
  "--problem": "--vscode-errorForeground",
};

/** Sets the colours of a document. A page draws its charts in them when its theme is set, so that they come first. */
export function colour(root: HTMLElement): void {
  const { dark, contrast } = theme();
  const own = getComputedStyle(document.body);
  for (const [name, of] of Object.entries(contrasting)) {
    const value = contrast ? own.getPropertyValue(of).trim() : "";
    if (value) root.style.setProperty(name, value);
    else root.style.removeProperty(name);
  }
  root.dataset.theme = dark ? "dark" : "light";
}

/** Sets the theme of a trace's page, as its URL does. */
export function tell(frame: HTMLIFrameElement): void {
  const { location, document: page } = frame.contentWindow!;
  colour(page.documentElement);
  const state = new URLSearchParams(location.hash.slice(1));
  state.set("theme", theme().dark ? "dark" : "light");
  location.replace(`${location.href.replace(/#.*/, "")}#${state}`); // a fragment alone would be one of the page here
}
