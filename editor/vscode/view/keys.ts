/**
 * Hands keys that a framed page has no use for to this window, where VS Code listens for its
 * shortcuts: it hears none of frames.
 */
export function forward(page: Window): void {
  page.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const { key, code, keyCode, ctrlKey, shiftKey, altKey, metaKey, repeat } = event;
    const taken = !dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, ctrlKey, shiftKey, altKey, metaKey, repeat, cancelable: true } as KeyboardEventInit));
    if (taken) event.preventDefault();
  });
}
