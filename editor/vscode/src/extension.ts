// The extension. It runs where VS Code's extensions run, also in a browser, and so uses Node only
// where there is one.

import * as vscode from "vscode";
import { open, ReportEditor, viewTypes } from "./editor";
import { collect, runs, top } from "./program";
import { compare, together } from "./several";

export function activate(context: vscode.ExtensionContext): void {
  const { extensionUri } = context;
  const editor = new ReportEditor(extensionUri);
  // A hidden page keeps its filters and selection.
  const options = { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: true };
  const commands: Record<string, (clicked?: vscode.Uri, selected?: vscode.Uri[]) => Promise<void>> = {
    "gctrail.open": open,
    "gctrail.compare": (_, selected) => compare(extensionUri, selected),
    "gctrail.together": (_, selected) => together(extensionUri, selected),
    "gctrail.collect": collect,
    "gctrail.top": top,
  };
  context.subscriptions.push(
    ...viewTypes.map((type) => vscode.window.registerCustomEditorProvider(type, editor, options)),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  );
  void vscode.commands.executeCommand("setContext", "gctrail.program", runs);
}
