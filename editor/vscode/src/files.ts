import * as vscode from "vscode";
import type { Content } from "./messages";

/**
 * Bounds the bytes of what one editor reads. VS Code hands files over whole, and several copies of
 * them are in memory meanwhile.
 */
export const most = 512 << 20;

/** The last part of a path. */
export function nameOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf("/") + 1);
}

/** Reads files, of any file system that VS Code knows. */
export async function read(uris: readonly vscode.Uri[]): Promise<Content[]> {
  let size = 0;
  for (const uri of uris) size += (await vscode.workspace.fs.stat(uri)).size;
  if (size > most) {
    throw new Error(`${nameOf(uris[0])}: an editor reads at most ${most >> 20} MB at once, and this is ${Math.ceil(size / (1 << 20))} MB. Use the program gctrail: gctrail report --format html -o report.html FILE`);
  }
  return Promise.all(uris.map(async (uri) => ({ name: nameOf(uri), data: plain(await vscode.workspace.fs.readFile(uri)) })));
}

/**
 * Returns bytes as a webview receives them. Where extensions run in Node, VS Code hands out a
 * Buffer, which becomes JSON on the way, and a small one is a part of memory that others use.
 */
function plain(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}
