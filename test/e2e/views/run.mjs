// node run.mjs FOLDER: runs the statements that standard input lists, as JSON, one
// after the other, on a database in a folder, and prints the result of the last one.
import { readFileSync } from "node:fs";
import { Session } from "chdb";

const session = new Session(process.argv[2]);
let result = "";
for (const statement of JSON.parse(readFileSync(0, "utf8"))) {
  result = session.query(statement, "JSONEachRow");
}
process.stdout.write(result);
