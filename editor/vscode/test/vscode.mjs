// Has modules find the API of tests under the name vscode.

import Module, { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

process.env.NODE_PATH = fileURLToPath(new URL("stub", import.meta.url));
Module._initPaths();

export const require = createRequire(import.meta.url);
export const vscode = require("vscode");
