import * as vscode from "vscode";

/** What deploy/release notes of the parts that it packs. */
interface Parts {
  /** The hashes of the script and the style of the page about a trace, which the page here frames. */
  script: string;
  style: string;
}

/** Makes the document of a webview, whose policy allows the scripts of the extension alone. */
export async function page(webview: vscode.Webview, extension: vscode.Uri): Promise<string> {
  const dist = vscode.Uri.joinPath(extension, "dist");
  const text = async (name: string) => new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(dist, name)));
  const address = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const parts = JSON.parse(await text("parts.json")) as Parts;
  const nonce = random();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' '${parts.script}' 'wasm-unsafe-eval'`,
    `style-src ${webview.cspSource} '${parts.style}'`,
    `connect-src ${webview.cspSource}`,
    "worker-src blob:",
    "frame-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en" data-at="${address("gctrail.wasm.gz")}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gctrail</title>
<link rel="stylesheet" href="${address("view.css")}">
</head>
<body>
<div id="app"><p class="again">Reading the file</p></div>
<script type="text/plain" id="worker">${await text("worker.js")}</script>
<script nonce="${nonce}" src="${address("view.js")}"></script>
</body>
</html>
`;
}

/** Nobody can guess it, so that no other script has it. */
function random(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
