import * as vscode from "vscode";
import { nameOf, read } from "./files";
import type { FromPage, Task, ToPage } from "./messages";
import { page } from "./page";
import { goTo } from "./source";

/** Shows files in a webview, and does what its page asks for. */
export async function show(panel: vscode.WebviewPanel, extension: vscode.Uri, uris: readonly vscode.Uri[], task: Task): Promise<void> {
  const { webview } = panel;
  webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, "dist")] };
  const answers: { [kind in FromPage["kind"]]: (message: Extract<FromPage, { kind: kind }>) => Promise<unknown> } = {
    ready: async () => webview.postMessage(await opened(uris, task)),
    save: ({ name, data }) => save(uris[0], name, new Uint8Array(data)),
    source: ({ name }) => goTo(name),
  };
  const heard = webview.onDidReceiveMessage(async (message: FromPage) => {
    try {
      await answers[message.kind](message as never);
    } catch (error) {
      void vscode.window.showErrorMessage(`gctrail: ${words(error)}`);
    }
  });
  panel.onDidDispose(() => heard.dispose());
  webview.html = await page(webview, extension);
}

async function opened(uris: readonly vscode.Uri[], task: Task): Promise<ToPage> {
  try {
    return { kind: "open", task, files: await read(uris) };
  } catch (error) {
    return { kind: "failed", why: words(error) };
  }
}

/** Asks where to save, beside the trace at first. */
async function save(trace: vscode.Uri, name: string, data: Uint8Array): Promise<void> {
  const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(trace, "..", name) });
  if (!target) return;
  await vscode.workspace.fs.writeFile(target, data);
  const open = "Open";
  if (await vscode.window.showInformationMessage(`${nameOf(target)} is saved.`, open) === open) await vscode.commands.executeCommand("vscode.open", target);
}

export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
