// Checks lists of modules against the schema of CycloneDX 1.6:
//
//   node sbom.mjs FILE...

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';

const schemas = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const base = 'http://cyclonedx.org/schema/'; // of the references
const ajv = new Ajv({ strict: false, validateFormats: false });
for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
  ajv.addSchema({ ...read(join(schemas, name)), $id: base + name });
}
const validate = ajv.compile(read(join(schemas, 'bom-1.6.SNAPSHOT.schema.json')));

let failed = 0;
for (const file of process.argv.slice(2)) {
  if (validate(read(file))) {
    console.log(`${file}: valid, ${read(file).components.length} components`);
  } else {
    failed++;
    console.error(`${file}: ${JSON.stringify(validate.errors.slice(0, 3))}`);
  }
}
process.exit(failed > 0 || process.argv.length < 3 ? 1 : 0);
