import * as vscode from "vscode";
import { nameOf } from "./files";
import { parse, type Name } from "./names";

/** A place in the source where a type or method may be. */
interface Place extends vscode.QuickPickItem {
  location: vscode.Location;
}

const types = new Set([vscode.SymbolKind.Class, vscode.SymbolKind.Struct, vscode.SymbolKind.Interface, vscode.SymbolKind.Enum, vscode.SymbolKind.Module]);
const methods = new Set([vscode.SymbolKind.Method, vscode.SymbolKind.Function, vscode.SymbolKind.Constructor, vscode.SymbolKind.Property]);
const sources = "**/*.{cs,fs,vb}";
const built = "**/{bin,obj,node_modules}/**";
const mostFiles = 5000; // read where no language's extension knows the symbols

/** Goes to the source of a type or method, if the workspace has it. */
export async function goTo(text: string): Promise<void> {
  const name = parse(text);
  let places = name ? await find(name) : [];
  if (places.length === 0 && name?.method && name.within !== "") places = await find({ simple: name.within, within: "", method: false }); // such as of a lambda
  if (places.length === 0) {
    void vscode.window.showInformationMessage(`This workspace has no source of ${text}.`);
    return;
  }
  const place = places.length === 1 ? places[0] : await vscode.window.showQuickPick(places, { title: `Source of ${text}`, matchOnDescription: true });
  if (place) await vscode.window.showTextDocument(place.location.uri, { selection: place.location.range });
}

async function find(name: Name): Promise<Place[]> {
  const known = await symbols(name);
  if (known.length > 0) return known;
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: `Looking for ${name.simple} in the workspace` };
  return vscode.window.withProgress(options, (_, token) => search(name, token));
}

/** Asks the extensions of languages. Methods of the same name in other types do not count. */
async function symbols(name: Name): Promise<Place[]> {
  const all = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", name.simple);
  const named = (all ?? []).filter((s) => simple(s.name) === name.simple && (name.method ? methods : types).has(s.kind));
  const inside = named.filter((s) => new RegExp(`\\b${name.within}\\b`).test(s.containerName));
  return (inside.length > 0 || name.method ? inside : named).map((s) => ({ label: s.name, description: s.containerName, detail: vscode.workspace.asRelativePath(s.location.uri), location: s.location }));
}

/** Removes what some extensions add to names: parameters and type arguments. */
function simple(name: string): string {
  return name.replace(/[(<].*$/, "").trim();
}

/** Reads the files of the workspace, first the ones that are named as the type is. */
async function search(name: Name, token: vscode.CancellationToken): Promise<Place[]> {
  const type = name.method ? name.within : name.simple;
  const uris = await vscode.workspace.findFiles(sources, built, mostFiles, token);
  const places: Place[] = [];
  for (const uri of uris.sort((a, b) => Number(nameOf(b).startsWith(type)) - Number(nameOf(a).startsWith(type)))) {
    if (token.isCancellationRequested) return [];
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    for (const line of lines(text, name)) {
      const at = new vscode.Position(line, 0);
      places.push({ label: text.split("\n")[line].trim(), detail: vscode.workspace.asRelativePath(uri), location: new vscode.Location(uri, new vscode.Range(at, at)) });
    }
  }
  return places;
}

/** Returns the lines of a file that declare a type, or a method of one. */
export function lines(text: string, name: Name): number[] {
  const code = text.split("\n").map((line) => (/^\s*(\/\/|\*)/.test(line) ? "" : line)); // without comments
  const declared = (word: string) => new RegExp(`\\b(?:class|struct|interface|enum|record|module|structure|type)\\s+(?:class\\s+|struct\\s+)?${word}\\b`, "i");
  if (name.method && name.within !== "" && !code.some((line) => declared(name.within).test(line))) return [];
  // A declaration has a word before its name, and is no statement.
  const method = new RegExp(`^\\s*(?!.*\\b(?:return|new|await|throw)\\b[^{=]*\\b${name.simple}\\b)(?:[\\w<>\\[\\],.?]+\\s+)+(?:\\w+\\.)?${name.simple}\\s*(?:<[^>]*>)?\\s*\\(`);
  const wanted = name.method ? method : declared(name.simple);
  return code.flatMap((line, i) => (wanted.test(line) ? [i] : []));
}
