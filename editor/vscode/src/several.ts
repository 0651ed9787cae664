import * as vscode from "vscode";
import { filters } from "./editor";
import { nameOf } from "./files";
import { show } from "./view";

/** Compares traces that are selected in the Explorer, or asks for them. */
export async function compare(extension: vscode.Uri, selected?: readonly vscode.Uri[]): Promise<void> {
  const uris = await several("Choose runs from before and after", selected);
  if (!uris) return;
  const sides = await split(uris);
  if (!sides) return;
  const title = `${sides.map((side) => side.map(nameOf).join(" + ")).join(" ↔ ")}`;
  await show(panel(title), extension, sides.flat(), { kind: "diff", before: sides[0].length });
}

/** Opens files as one trace, such as those of an ETW session, or snapshots of one process. */
export async function together(extension: vscode.Uri, selected?: readonly vscode.Uri[]): Promise<void> {
  const uris = await several("Choose files of one trace, or snapshots of one process", selected);
  if (uris) await show(panel(uris.map(nameOf).join(" + ")), extension, uris, { kind: "page" });
}

function panel(title: string): vscode.WebviewPanel {
  return vscode.window.createWebviewPanel("gctrail.several", title, vscode.ViewColumn.Active, { enableScripts: true, retainContextWhenHidden: true });
}

/** Returns two files at least, sorted by name. Some dialogues of VS Code let one be chosen at a time. */
async function several(title: string, selected?: readonly vscode.Uri[]): Promise<vscode.Uri[] | undefined> {
  const uris = [...(selected ?? [])];
  while (uris.length < 2) {
    const more = await vscode.window.showOpenDialog({ canSelectMany: true, filters, title: uris.length === 0 ? title : `Choose another beside ${nameOf(uris[0])}` });
    if (!more) return undefined;
    uris.push(...more.filter((uri) => !uris.some((chosen) => chosen.toString() === uri.toString())));
  }
  return uris.sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

/** Asks which files are from before the change; the others are from after it. */
async function split(uris: vscode.Uri[]): Promise<[vscode.Uri[], vscode.Uri[]] | undefined> {
  const half = Math.ceil(uris.length / 2);
  const items = uris.map((uri, i) => ({ label: nameOf(uri), description: vscode.workspace.asRelativePath(uri), picked: i < half, uri }));
  const before = await vscode.window.showQuickPick(items, { canPickMany: true, title: "Which are from before?", placeHolder: "The others are from after" });
  if (!before) return undefined;
  if (before.length === 0 || before.length === uris.length) {
    void vscode.window.showInformationMessage("A comparison needs a run from before and one from after.");
    return undefined;
  }
  const chosen = new Set(before.map((item) => item.uri));
  return [uris.filter((uri) => chosen.has(uri)), uris.filter((uri) => !chosen.has(uri))];
}
