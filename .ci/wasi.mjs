// Runs gctrail.wasm with Node.js: node wasi.mjs MODULE FOLDER ARGUMENT…, in which FOLDER is /.
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { WASI } from 'node:wasi';

setFlagsFromString('--no-turbo-fast-api-calls'); // with them, Node.js crashes once memory has grown: nodejs/node#51303

const [module, folder, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: ['gctrail', ...args], preopens: { '/': folder } });
const instance = await WebAssembly.instantiate(await WebAssembly.compile(await readFile(module)), wasi.getImportObject());
process.exitCode = wasi.start(instance);
