import * as vscode from "vscode";
import { choose, type Chosen } from "./processes";

/** The environment of the process that extensions run in. There is none in a browser. */
const environment = (globalThis as { process?: { env: Record<string, string | undefined>; platform: string } }).process;

/** Whether programs can run where the extension runs. */
export const runs = environment?.env !== undefined && environment.env.PATH !== undefined;

/** Finds the program, by the setting or in the folders of PATH. */
export async function program(): Promise<string | undefined> {
  const set = vscode.workspace.getConfiguration("gctrail").get<string>("path");
  if (set) return set;
  const windows = environment?.platform === "win32";
  for (const folder of environment?.env.PATH?.split(windows ? ";" : ":") ?? []) {
    if (folder === "") continue;
    const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), windows ? "gctrail.exe" : "gctrail");
    if (await exists(uri)) return uri.fsPath;
  }
  return undefined;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) === 0;
  } catch {
    return false;
  }
}

/** Returns the program, or says how to have it. */
async function needed(): Promise<string | undefined> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("gctrail runs only in trusted workspaces.");
    return undefined;
  }
  const path = await program();
  if (path) return path;
  const [install, settings] = ["How to Install", "Settings"];
  const chosen = await vscode.window.showWarningMessage("gctrail is not installed: it is in no folder of PATH, and the setting gctrail.path is empty.", install, settings);
  if (chosen === install) await vscode.env.openExternal(vscode.Uri.parse("https://github.com/gctrail/gctrail/blob/main/docs/install.md"));
  if (chosen === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "gctrail.path");
  return undefined;
}

/** Shows the processes of the machine in a terminal. */
export async function top(): Promise<void> {
  const path = await needed();
  if (path) vscode.window.createTerminal({ name: "gctrail top", shellPath: path, shellArgs: ["top"] }).show();
}

/** Records a process, in a task that shows how it goes, and opens the trace. */
export async function collect(): Promise<void> {
  const path = await needed();
  if (!path) return;
  const process = await choose(path);
  if (!process) return;
  const seconds = await vscode.window.showInputBox({
    title: "Record a process", prompt: "For how many seconds? Ctrl-C in the terminal ends it, too", value: "30",
    validateInput: (text) => (/^[1-9]\d{0,5}$/.test(text) ? undefined : "A number of seconds"),
  });
  if (!seconds) return;
  const target = await vscode.window.showSaveDialog({ title: "Save the trace as", filters: { Trace: ["nettrace"] }, defaultUri: begin(process.name) });
  if (target) await record(path, process, seconds, target);
}

/** Proposes a file in the workspace. */
function begin(name: string): vscode.Uri | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder && vscode.Uri.joinPath(folder.uri, `${name.replace(/[^\w.-]+/g, "_")}.nettrace`);
}

async function record(path: string, { id, name }: Chosen, seconds: string, target: vscode.Uri): Promise<void> {
  const args = ["collect", /^\d+$/.test(id) ? "-p" : "-n", id, "--duration", `${seconds}s`, "-o", target.fsPath];
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, `collect ${name}`, "gctrail", new vscode.ProcessExecution(path, args));
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  const execution = await vscode.tasks.executeTask(task);
  const ended = vscode.tasks.onDidEndTaskProcess(async (event) => {
    if (event.execution !== execution) return;
    ended.dispose();
    if (event.exitCode !== 0) return;
    await vscode.window.tabGroups.close(editorsOf(target)); // because they show the earlier file
    await vscode.commands.executeCommand("vscode.open", target);
  });
}

/** Finds the tabs that show a file. */
function editorsOf(file: vscode.Uri): vscode.Tab[] {
  const shows = ({ input }: vscode.Tab) => input instanceof vscode.TabInputCustom && input.uri.toString() === file.toString();
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(shows);
}
