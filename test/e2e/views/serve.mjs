// node serve.mjs FOLDER [PORT]: the HTTP interface of a ClickHouse server, as far as gctrail
// uses it, on a database in a folder. The server is the only one of the cluster "gctrail".
// It serves no other replicas, so that replicated tables can be made, but not filled.
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Session } from "chdb";

const folder = process.argv[2];
const config = join(folder, "config.xml");
writeFileSync(config, `<clickhouse>
<tcp_port>9000</tcp_port>
<zookeeper><implementation>testkeeper</implementation></zookeeper>
<macros><shard>1</shard><replica>a</replica></macros>
<remote_servers><gctrail><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></gctrail></remote_servers>
</clickhouse>`);
const open = () => new Session(join(folder, "data"), { connectionArgs: [`--config-file=${config}`] });
const [writer, reader] = [open(), open()];
reader.query("SET readonly = 1");

const own = ["database", "query", "readonly", "wait_end_of_query"];
const text = (s) => "'" + s.replaceAll("\\", "\\\\").replaceAll("'", "\\'") + "'";

// run runs a statement and returns the bytes of its result.
async function run(session, statement, format = "TabSeparated") {
  const result = await session.queryAsync(statement, { format });
  return Buffer.from(result.bytes());
}

async function answer(request, body) {
  const given = new URL(request.url, "http://localhost").searchParams;
  const session = given.get("readonly") === "1" ? reader : writer;
  await run(session, `USE \`${given.get("database") ?? "default"}\``);
  const [, statement, format] = /^([\s\S]*?)(?:\s+FORMAT (\w+))?;?\s*$/.exec(given.get("query") ?? body.toString());
  if (!given.has("query")) {
    return run(session, statement, format);
  }
  const settings = [...given].filter(([name]) => !own.includes(name)).map(([name, value]) => `${name} = ${text(value)}`);
  const rows = join(folder, "rows");
  writeFileSync(rows, body);
  try {
    return await run(session, `${statement} FROM INFILE ${text(rows)} SETTINGS ${settings} FORMAT ${format}`);
  } finally {
    rmSync(rows);
  }
}

let before = Promise.resolve(); // one statement at a time
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    before = before.then(async () => {
      try {
        response.end(request.method === "GET" ? "Ok.\n" : await answer(request, Buffer.concat(parts)));
      } catch (error) {
        const message = error.message.replace(/^[\s\S]*?(?=Code: )/, "");
        const code = /^Code: (\d+)/.exec(message)?.[1] ?? "1002";
        response.writeHead(code === "60" || code === "81" ? 404 : 500, { "X-ClickHouse-Exception-Code": code });
        response.end(message);
      }
    });
  });
});
server.listen(Number(process.argv[3] ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
