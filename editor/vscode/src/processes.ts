import * as vscode from "vscode";

/** A process as gctrail ps --format jsonl prints it. */
interface Process {
  pid: number | null;
  name: string | null;
  runtime: string | null;
  container: string | null;
  command_line: string | null;
  problem: string | null;
}

/** A process that is to be recorded. */
export interface Chosen {
  /** Its id, or a name that no other has. */
  id: string;
  name: string;
}

interface Item extends vscode.QuickPickItem {
  /** Without one, the item asks for it. */
  process?: Chosen;
}

type Execute = (file: string, args: string[], options: { timeout: number; maxBuffer: number }, done: (error: Error | null, output: string) => void) => void;

/** The part of Node that starts programs. Browsers have none, and neither do versions of VS Code before 1.93. */
const node = (globalThis as { process?: { getBuiltinModule?(name: string): { execFile: Execute } | undefined } }).process;

/** Asks for one of the .NET processes of the machine; undefined if none is chosen. */
export async function choose(program: string): Promise<Chosen | undefined> {
  const options = { title: "Record a process", placeHolder: "A .NET process of this machine", matchOnDescription: true, matchOnDetail: true };
  const chosen = await vscode.window.showQuickPick(items(program), options);
  return chosen && (chosen.process ?? await typed());
}

async function typed(): Promise<Chosen | undefined> {
  const text = await vscode.window.showInputBox({
    title: "Record a process", prompt: "The id of a .NET process, or its name if no other has it", placeHolder: "1234, or Shop.Web",
    validateInput: (text) => (text.trim() === "" || text.startsWith("-") ? "An id or a name" : undefined),
  });
  return text ? { id: text.trim(), name: text.trim() } : undefined;
}

async function items(program: string): Promise<Item[]> {
  const other: Item = { label: "Another process...", detail: "Enter its id or name", alwaysShow: true };
  try {
    return [...(await list(program)).flatMap(item), other];
  } catch (error) {
    return [{ ...other, detail: `gctrail ps: ${(error as Error).message}` }];
  }
}

/** Describes a process that can be recorded. */
function item({ pid, name, runtime, container, command_line, problem }: Process): Item[] {
  if (pid === null || problem !== null) return [];
  const description = [pid, runtime, container && `in ${container}`].filter(Boolean).join(" · ");
  return [{ process: { id: String(pid), name: name ?? String(pid) }, label: name ?? "unknown", description, detail: command_line ?? undefined }];
}

/** Runs gctrail ps. */
async function list(program: string): Promise<Process[]> {
  const execute = node?.getBuiltinModule?.("node:child_process")?.execFile;
  if (!execute) return [];
  const output = await new Promise<string>((done, fail) => {
    execute(program, ["ps", "--format", "jsonl"], { timeout: 30_000, maxBuffer: 16 << 20 }, (error, text) => (error ? fail(error) : done(text)));
  });
  return output.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Process);
}
