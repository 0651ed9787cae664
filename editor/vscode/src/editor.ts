import * as vscode from "vscode";
import { show } from "./view";

/** The files that editors open; others are chosen with "Open With". */
export const viewTypes = ["gctrail.report", "gctrail.other"];

/** Files that are chosen in a dialogue. The name of a packed one ends with how it is packed. */
export const filters = { "Traces and heap snapshots": ["nettrace", "netperf", "etl", "gcdump", "zip", "gz", "zst", "xz", "tar"], "All files": ["*"] };

/** Opens traces and heap snapshots, which nobody edits. */
export class ReportEditor implements vscode.CustomReadonlyEditorProvider {
  constructor(private readonly extension: vscode.Uri) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => {} };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    return show(panel, this.extension, [uri], { kind: "page" });
  }
}

/** Asks for files, and opens each in an editor. */
export async function open(): Promise<void> {
  const uris = await vscode.window.showOpenDialog({ canSelectMany: true, filters, title: "Open traces or heap snapshots" });
  for (const uri of uris ?? []) await vscode.commands.executeCommand("vscode.openWith", uri, viewTypes[0]);
}
