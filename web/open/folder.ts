// Folders: the traces that are in one.

/** A file of a folder, with its path in it. */
interface Held {
  path: string;
  file: File;
}

/** The traces of a folder, and how many of its files are none by their names. */
export interface Folder {
  name: string;
  traces: File[];
  paths: Map<File, string>;
  /** Files that are read with a trace: the other parts of an ETW trace, and perf maps. */
  beside: Map<File, File[]>;
  symbols: number; // files of symbols, which gctrail does not read
  others: number;
  more: boolean; // than are looked at
}

/** How many files of a folder are looked at. */
const most = 4096;

const perfMap = /(^|\/)perf-\d+\.map$/;
const symbols = /\.(pdb|dbg|debug|dwarf|sym)$|\.dSYM\//i;
const trace = /\.(nettrace|netperf|etl|gcdump|zip|gz|zst|xz|tar)$/i;

/** Returns the traces among files that were chosen, of which those with other endings are tried, too. */
export function chosenFiles(files: File[]): Folder {
  return traces("", files.map((file) => ({ path: file.name, file })), false, true);
}

/** Returns the files that are read with some traces: perf maps only where all are in one folder, because others have the same names. */
export function besideAll({ beside, paths }: Folder, files: File[]): File[] {
  const folders = new Set(files.map((f) => folderOf(paths.get(f) ?? "")));
  const all = new Set(files.flatMap((f) => beside.get(f) ?? []));
  return [...all].filter((f) => folders.size === 1 || !perfMap.test(f.name));
}

/** Returns the traces of a folder that was chosen. */
export function chosenFolder(files: FileList): Folder {
  const held = [...files].slice(0, most).map((file) => ({ path: file.webkitRelativePath, file }));
  return traces(held[0]?.path.split("/")[0] ?? "", held, files.length > most);
}

/**
 * Returns the traces of what was dropped; null where it has no folder. The browser hands folders
 * out only while it handles the drop, so that they are asked for at once.
 */
export function droppedFolder(data: DataTransfer): Promise<Folder> | null {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((e) => e !== null);
  if (!entries.some((e) => e.isDirectory)) return null;
  return walk(entries);
}

async function walk(entries: FileSystemEntry[]): Promise<Folder> {
  const held: Held[] = [];
  const name = entries.map((e) => e.name).join(", ");
  const left = [...entries];
  while (left.length > 0 && held.length < most) {
    const entry = left.shift()!;
    if (entry.isDirectory) left.push(...await children(entry as FileSystemDirectoryEntry));
    else held.push({ path: entry.fullPath.slice(1), file: await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)) });
  }
  return traces(name, held, left.length > 0);
}

async function children(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) { // a browser returns 100 or so at once
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Sorts files out. The files of an LTTng trace become one. */
function traces(name: string, held: Held[], more: boolean, any = false): Folder {
  const roots = [...new Set(held.filter((h) => /(^|\/)metadata$/.test(h.path)).map((h) => rootOf(h.path)))];
  const lttng = new Map<string, Held[]>(roots.map((root) => [root, []]));
  const paths = new Map<File, string>();
  const parts: Held[] = [];
  const etls = new Set(held.filter((h) => /\.etl$/i.test(h.path)).map((h) => h.path.toLowerCase()));
  let others = 0;
  let unread = 0;
  for (const h of held) {
    const root = roots.find((r) => h.path.startsWith(`${r}/`));
    if (root !== undefined) lttng.get(root)!.push(h);
    else if (perfMap.test(h.path) || etls.has(mainOf(h.path))) parts.push(h);
    else if (symbols.test(h.path)) unread++;
    else if (any || trace.test(h.path)) paths.set(h.file, h.path);
    else others++;
  }
  for (const [root, files] of lttng) paths.set(packed(root, files), root);
  const beside = new Map([...paths].map(([file, path]) => [file, parts.filter((h) => folderOf(h.path) === folderOf(path) && ((perfMap.test(h.path) && !/\.gcdump/i.test(path)) || mainOf(h.path) === path.toLowerCase())).map((h) => h.file)]));
  const found = [...paths.keys()].sort((a, b) => paths.get(a)!.localeCompare(paths.get(b)!, "en", { numeric: true }));
  return { name, traces: found, paths, beside, symbols: unread, others, more };
}

const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

/** The main file of the ETW trace that a file is a part of by its name, as X.etl of X.kernel.etl; empty for others. */
function mainOf(path: string): string {
  const found = /^(.*)\.(?:kernel|clr|user)[^/]*\.etl$/i.exec(path);
  return found ? `${found[1]}.etl`.toLowerCase() : "";
}

/** The folder of the LTTng trace that a file named metadata belongs to. */
function rootOf(path: string): string {
  return path.replace(/\/((ust|kernel)\/.*|[^/]*)$/, "");
}

/** Packs an LTTng trace as a tar. Its parts are references to the files, so that nothing is copied. */
function packed(root: string, files: Held[]): File {
  const parts = files.flatMap(({ path, file }) => [header(path.slice(root.length + 1), file.size), file, new Uint8Array(-file.size & 511)]);
  return new File([...parts, new Uint8Array(1024)], `${root.split("/").pop()}.tar`);
}

/** The header of a file in a tar, as POSIX's ustar has it. */
function header(name: string, size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(512);
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at);
  const cut = name.length > 100 ? name.lastIndexOf("/", 154) : -1; // to where the prefix has the folder
  put(0, name.slice(cut + 1).slice(0, 100));
  put(100, "0000644\0" + "0000000\0" + "0000000\0" + size.toString(8).padStart(11, "0") + "\0" + "00000000000\0" + " ".repeat(8) + "0");
  put(257, "ustar\0" + "00");
  if (cut > 0) put(345, name.slice(0, cut));
  put(148, block.reduce((sum, b) => sum + b, 0).toString(8).padStart(6, "0") + "\0 ");
  return block;
}
