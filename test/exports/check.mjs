// Converts traces, and reads each file with another program's reader: its figures must
// be those of gctrail gcs, gctrail allocs and the other lists.
//
//   npm ci --ignore-scripts && node check.mjs GCTRAIL TRACE...
//
// Needs go, and protoc, promtool and Perfetto's trace processor in the folder that
// TRACE_PROCESSOR names, without which it skips what they read.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { DuckDBInstance } from '@duckdb/node-api';
import { loader } from './devtools.mjs';
import { open as openTrace } from './traceprocessor.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const [gctrail, ...traces] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'exports-'));
let checks = 0;
const failures = [];

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'], ...options });
}

const has = (command) => spawnSync(command, ['--version']).error === undefined;

function lines(args) {
  return run(gctrail, args).split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

// equal checks a figure; times may differ in the last digit of a sum of floats.
function equal(trace, reader, what, got, want) {
  checks++;
  const same = Number.isInteger(want) ? Number(got) === want : Math.abs(Number(got) - want) <= 1e-6 * Math.max(1, Math.abs(want));
  if (!same) failures.push(`${trace}: ${reader}: ${what} is ${got}, expected ${want}`);
}

function valid(trace, reader, validate, value) {
  checks++;
  if (!validate(value)) failures.push(`${trace}: ${reader}: ${JSON.stringify(validate.errors.slice(0, 3))}`);
}

const sum = (rows, key) => rows.reduce((all, row) => all + (row[key] ?? 0), 0);

// snapshots are what gctrail says of the heap snapshots in a file.
const snapshots = (file) => lines(['objects', '--format', 'json', '--top', '0', file]).flatMap((line) => line.snapshots);

// stops counts the pauses within spans, from their times.
function stops(trace, gcs) {
  const pauses = gcs.flatMap((gc) => gc.pauses.map((p) => ({ pid: gc.pid, from: p.start_ms, to: p.start_ms + p.duration_ms })));
  const least = 1e-4; // ms, below which rounded times may touch only
  return lines(['requests', '--format', 'jsonl', trace]).filter((s) => s.duration_ms !== null)
    .reduce((all, s) => all + pauses.filter((p) => p.pid === s.pid && p.from < s.start_ms + s.duration_ms - least && p.to > s.start_ms + least).length, 0);
}

// figures are what gctrail itself says of a trace.
function figures(trace) {
  const gcs = lines(['gcs', '--format', 'jsonl', trace]);
  const pauses = gcs.flatMap((gc) => gc.pauses);
  const allocs = lines(['allocs', '--by', 'heap', '--format', 'jsonl', trace]);
  return {
    gcs: gcs.length,
    snapshots: snapshots(trace),
    heapAfter: sum(gcs, 'heap_after_bytes'),
    pauses: pauses.length,
    pause: sum(pauses, 'duration_ms'),
    generations: gcs.reduce((all, gc) => all + (gc.generations?.length ?? 0), 0),
    allocated: sum(allocs, 'bytes'),
    samples: sum(allocs, 'samples'),
    events: run(gctrail, ['events', trace]).split('\n').filter(Boolean).length,
  };
}

function convert(trace, file, ...options) {
  const out = join(work, file);
  run(gctrail, ['convert', ...options, trace, '-o', out]);
  return out;
}

function pprof(name, trace, want) {
  const text = run('go', ['tool', 'pprof', '-top', '-nodecount=100000', '-nodefraction=0', '-unit=B', '-sample_index=alloc_space', convert(trace, 'x.pb.gz')]);
  equal(name, 'go tool pprof', 'bytes', text.match(/of (\d+)B total/)?.[1], want.allocated);
}

const speedscopeSchema = new Ajv({ strict: false })
  .compile(JSON.parse(readFileSync(join(modules, 'speedscope/dist/release/file-format-schema.json'), 'utf8')));

function speedscope(name, trace, want) {
  const file = JSON.parse(readFileSync(convert(trace, 'x.speedscope.json'), 'utf8'));
  valid(name, 'speedscope', speedscopeSchema, file);
  equal(name, 'speedscope', 'bytes', file.profiles.flatMap((p) => p.weights).reduce((a, b) => a + b, 0), want.allocated);
}

// heapProfiles reads the last heap snapshot by what holds its objects: the live ones.
function heapProfiles(name, trace, want) {
  const last = want.snapshots.at(-1);
  for (const by of ['dominator', 'path']) {
    const file = convert(trace, 'heap.pb.gz', '--by', by);
    for (const [index, unit, expected] of [['inuse_space', 'B', last.live_bytes], ['inuse_objects', '', last.live_objects]]) {
      const text = run('go', ['tool', 'pprof', '-top', '-nodecount=100000', '-nodefraction=0', `-unit=${unit || 'count'}`, `-sample_index=${index}`, file]);
      equal(name, `go tool pprof, by ${by}`, index, text.match(new RegExp(`of (\\d+)${unit} total`))?.[1], expected);
    }
    const { profiles, ...shared } = JSON.parse(readFileSync(convert(trace, 'heap.speedscope.json', '--by', by), 'utf8'));
    valid(name, 'speedscope', speedscopeSchema, { profiles, ...shared });
    equal(name, `speedscope, by ${by}`, 'bytes', profiles.flatMap((p) => p.weights).reduce((a, b) => a + b, 0), last.live_bytes);
  }
}

function perfetto(name, trace, want) {
  const text = run('protoc', ['-I', here, '--decode=Trace', join(here, 'perfetto.proto')], {
    input: readFileSync(convert(trace, 'x.pftrace')), stdio: ['pipe', 'pipe', 'pipe'],
  });
  equal(name, 'protoc', 'unknown fields', (text.match(/^ +\d+:/gm) ?? []).length, 0);
  const tracks = new Map();
  const open = new Map();
  const ends = new Map();
  let pauses = 0, pause = 0;
  for (const packet of text.split(/^packet \{$/m)) {
    const field = (key) => packet.match(new RegExp(`^    ${key}: (.*)$`, 'm'))?.[1];
    if (packet.includes('track_descriptor {')) {
      tracks.set(field('uuid'), field('name') ?? '');
      continue;
    }
    const at = Number(packet.match(/^  timestamp: (\d+)$/m)?.[1]);
    const track = field('track_uuid');
    if (field('type') === '1') open.set(track, at);
    if (field('type') === '2' && /^"(Background )?GC pauses[",]/.test(tracks.get(track))) {
      pauses++;
      pause += (at - open.get(track)) / 1e6;
    }
    if (field('type') === '2') {
      const slices = ends.get(track) ?? [];
      slices.push([open.get(track), at]);
      ends.set(track, slices);
    }
  }
  let overlaps = 0;
  for (const slices of ends.values()) {
    slices.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (let i = 1; i < slices.length; i++) if (slices[i][0] < slices[i - 1][1]) overlaps++;
  }
  equal(name, 'protoc', 'pauses', pauses, want.pauses);
  equal(name, 'protoc', 'paused ms', pause, want.pause);
  equal(name, 'protoc', 'slices that overlap', overlaps, 0);
}

// traceProcessor queries the trace in Perfetto's own database, which also counts what it
// could not read.
async function traceProcessor(name, trace, want, folder) {
  const query = await openTrace(folder, readFileSync(convert(trace, 'x.pftrace')));
  const check = async (what, expected, sql) => equal(name, 'trace processor', what, Object.values((await query(sql))[0])[0] ?? 0, expected);
  const slices = (tracks) => `FROM slice JOIN track ON slice.track_id = track.id WHERE track.name GLOB '${tracks}'`;
  const reports = lines(['report', '--format', 'json', '--full', trace]);
  const quotes = reports.flatMap((r) => r.processes).flatMap((p) => p.findings).reduce((all, f) => all + f.collections.length, 0);
  const gcs = lines(['gcs', '--format', 'jsonl', trace]);
  await check('errors', 0, "SELECT sum(value) FROM stats WHERE severity IN ('error', 'data_loss')");
  await check('pauses', want.pauses, `SELECT count(*) ${slices('*GC pauses')} OR track.name GLOB '*GC pauses, overlapping*'`);
  await check('paused ms', want.pause, `SELECT sum(slice.dur) / 1e6 ${slices('*GC pauses')} OR track.name GLOB '*GC pauses, overlapping*'`);
  await check('slices that do not end', 0, 'SELECT count(*) FROM slice WHERE dur < 0');
  await check('GCs with start and end', gcs.filter((gc) => gc.duration_ms !== null).length, `SELECT count(*) FROM slice WHERE name GLOB 'GC *, gen*'`);
  const stopped = 'SELECT count(*) FROM flow JOIN slice ON flow.slice_in = slice.id JOIN track ON slice.track_id = track.id WHERE track.name GLOB \'GC pauses of requests*\'';
  await check('arrows from findings to GCs', quotes, `SELECT (SELECT count(*) FROM flow) - (${stopped})`);
  await check('arrows from requests to pauses', stops(trace, gcs), stopped);
  await check('spans', lines(['requests', '--format', 'jsonl', trace]).length, "SELECT count(*) FROM slice JOIN track ON slice.track_id = track.id WHERE track.name GLOB 'Requests*' OR track.name GLOB 'Spans in requests*'");
  await check('largest heap', Math.max(0, ...gcs.filter((gc) => gc.start_ms !== null).flatMap((gc) => [gc.heap_before_bytes ?? 0, gc.duration_ms === null ? 0 : (gc.heap_after_bytes ?? 0)])),
    "SELECT max(value) FROM counter JOIN track ON counter.track_id = track.id WHERE track.name = 'Heap'");
  for (const [what, key, sql] of [['objects', 'objects', 'count(*)'], ['bytes of objects', 'bytes', 'sum(self_size)'],
    ['live objects', 'live_objects', 'sum(reachable)'], ['live bytes', 'live_bytes', 'sum(CASE WHEN reachable THEN self_size END)']]) {
    await check(what, sum(want.snapshots, key), `SELECT ${sql} FROM heap_graph_object`);
  }
}

// objects loads the last heap snapshot into DevTools, and writes and reads it as .gcdump.
// What nothing refers to, DevTools hangs on the root.
async function objects(name, trace, want) {
  const last = want.snapshots.at(-1);
  const loaded = await load(convert(trace, 'x.heapsnapshot'));
  equal(name, 'DevTools', 'bytes', loaded.bytes, last.bytes);
  const types = Map.groupBy?.(last.types, (t) => t.type) ?? last.types.reduce((all, t) => all.set(t.type, [...(all.get(t.type) ?? []), t]), new Map());
  for (const c of loaded.classes) {
    const of = types.get(c.name);
    if (!of) continue; // (string), and the kinds of roots
    equal(name, 'DevTools', `objects of ${c.name}`, c.objects, sum(of, 'objects'));
    equal(name, 'DevTools', `bytes of ${c.name}`, c.bytes, sum(of, 'bytes'));
    if (of.length === 1 && c.name !== 'System.RuntimeType') equal(name, 'DevTools', `retained by ${c.name}`, c.retained, of[0].retained_bytes);
  }
  const [again] = snapshots(convert(trace, 'x.gcdump'));
  for (const key of ['objects', 'bytes', 'live_objects', 'live_bytes', 'edges']) {
    equal(name, 'gcdump', key, again[key], last[key] + (key === 'edges' ? last.dependent_handles : 0));
  }
}

const profilerCLI = join(modules, '@firefox-devtools/profiler-cli/dist/profiler-cli.js');

async function firefox(name, trace, want) {
  const env = { ...process.env, PROFILER_CLI_SESSION_DIR: join(work, 'sessions'), PROFILER_CLI_NO_SYMBOLICATE: '1' };
  const ask = (...args) => {
    const r = spawnSync(process.execPath, [profilerCLI, ...args, '--session', 'x'], { encoding: 'utf8', maxBuffer: 1 << 30, env });
    return r.status === 0 ? r.stdout : undefined;
  };
  const file = convert(trace, 'x.firefox.json');
  ask('load', file);
  let threads;
  for (let tries = 0; tries < 60 && threads === undefined; tries++) {
    threads = ask('thread', 'list', '--json'); // its daemon may still be starting
    if (threads === undefined) await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    let pauses = 0, gcs = 0, allocated = 0, bytes = false;
    for (const thread of JSON.parse(threads).threads) {
      ask('thread', 'select', thread.threadHandle ?? thread.handle);
      for (const of of JSON.parse(ask('thread', 'markers', '--json')).byType) {
        if (of.markerName.startsWith('Pause: ')) pauses += of.count;
        if (of.markerName.startsWith('GC: ')) gcs += of.count;
      }
      if (want.allocated > 0) {
        ask('strategy', 'js-allocations');
        const tree = JSON.parse(ask('thread', 'samples-top-down', '--json'));
        allocated += tree.regularCallTree.totalSamples;
        bytes = tree.weightType === 'bytes';
      }
    }
    equal(name, 'Firefox Profiler', 'pauses', pauses, want.pauses);
    equal(name, 'Firefox Profiler', 'GCs with start and end', gcs, lines(['gcs', '--format', 'jsonl', trace]).filter((gc) => gc.duration_ms !== null).length);
    equal(name, 'Firefox Profiler', 'allocated bytes', allocated, want.allocated);
    equal(name, 'Firefox Profiler', 'unit of allocations is bytes', Number(bytes), Number(want.allocated > 0));
  } finally {
    ask('stop');
  }
}

async function tables(name, trace, want, db) {
  const folder = join(work, 'tables');
  rmSync(folder, { recursive: true, force: true });
  run(gctrail, ['convert', '--to', 'parquet', trace, '-o', folder + '/']);
  const files = readdirSync(folder);
  const table = (t) => `'${join(folder, files.find((file) => file.endsWith(`.${t}.parquet`)))}'`;
  const one = async (query) => (await db.runAndReadAll(query)).getRowsJS()[0];
  const all = async (reader, from, wants) => {
    const got = await one(`SELECT ${Object.keys(wants).join(', ')} FROM ${from}`);
    Object.entries(wants).forEach(([what, v], i) => equal(name, reader, what, got[i] ?? 0, v));
  };
  await all('DuckDB, collections', table('collections'), { 'count(*)': want.gcs, 'sum(heap_after_bytes)': want.heapAfter });
  await all('DuckDB, pauses', table('pauses'), { 'count(*)': want.pauses, 'sum(duration_ms)': want.pause });
  await all('DuckDB, generations', table('generations'), { 'count(*)': want.generations });
  await all('DuckDB, allocations', table('allocations'), { 'sum(bytes)': want.allocated, 'sum(samples)': want.samples });
  await all('DuckDB, events', table('events'), { 'count(*)': want.events, "count_if(not json_valid(data_json))": 0 });
  const first = lines(['gcs', '--format', 'jsonl', trace]).find((gc) => gc.start_time);
  const [ms] = await one(`SELECT epoch_ms(min(start_time)) FROM ${table('collections')}`);
  if (first) equal(name, 'DuckDB', 'start_time', Number(ms), Math.floor(Date.parse(first.start_time)));
  await all('DuckDB, csv', `read_csv('${convert(trace, 'x.csv')}')`, { 'count(*)': want.gcs, 'sum(heap_after_bytes::BIGINT)': want.heapAfter });
}

const everyList = [
  ['gcs', '--per-heap'], ['gcs', '--metrics'], ['allocs', '--by', 'type,stack'], ['pins'], ['handles'], ['finalizers'], ['joins'], ['joins', '--tunings'],
  ['heap'], ['heap', '--per-heap'], ['phases'], ['phases', '--blocking'], ['pauses'], ['pauses', '--show', 'windows'], ['pauses', '--show', 'bottlenecks'],
];

// lists compares the Parquet of every list with its JSON lines: its rows, and in each
// column the values that are known and the sum of the numbers.
async function lists(name, trace, db) {
  for (const list of everyList) {
    const rows = lines([...list, '--format', 'jsonl', trace]);
    const file = join(work, 'list.parquet');
    run(gctrail, [...list, '--format', 'parquet', trace, '-o', file]);
    const reader = `DuckDB, ${list.join(' ')}`;
    const [[count]] = (await db.runAndReadAll(`SELECT count(*) FROM '${file}'`)).getRows();
    equal(name, reader, 'rows', count, rows.length);
    for (const key of Object.keys(rows[0] ?? {})) {
      const numbers = rows.some((row) => typeof row[key] === 'number');
      const [[known, total]] = (await db.runAndReadAll(`SELECT count("${key}"), ${numbers ? `sum("${key}")::DOUBLE` : '0'} FROM '${file}'`)).getRows();
      equal(name, reader, `known ${key}`, known, rows.filter((row) => row[key] !== null).length);
      if (numbers) equal(name, reader, key, total, sum(rows, key) + 0.0);
    }
  }
}

function openmetrics(name, trace, want) {
  const data = join(work, 'tsdb');
  rmSync(data, { recursive: true, force: true });
  run('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', convert(trace, 'x.om'), data]);
  mkdirSync(join(data, 'wal'), { recursive: true }); // which dump looks for
  const last = new Map();
  for (const line of run('promtool', ['tsdb', 'dump', data]).split('\n')) {
    const [, series, value, at] = line.match(/^(\{.*\}) (\S+) (\d+)$/) ?? [];
    if (series && !(last.get(series)?.at > Number(at))) last.set(series, { value: Number(value), at: Number(at) });
  }
  const total = (metric) => [...last].filter(([s]) => s.includes(`__name__="${metric}"`)).reduce((all, [, p]) => all + p.value, 0);
  equal(name, 'Prometheus', 'collections', total('dotnet_gc_collections_total'), want.gcs);
  equal(name, 'Prometheus', 'paused ms', total('dotnet_gc_pause_time_seconds_total') * 1e3, want.pause);
  equal(name, 'Prometheus', 'pauses in the histogram', total('dotnet_gc_pause_duration_seconds_count'), want.pauses);
}

const schemas = Object.fromEntries([['gcs', ['gcs', '--format', 'jsonl']], ['events', ['events', '--limit', '2000']],
  ['report', ['report', '--full', '--format', 'json']], ['allocs', ['allocs', '--by', 'type,stack', '--format', 'jsonl']]]
  .map(([name, command]) => [name, { command, validate: new Ajv2020({ strict: false }).compile(JSON.parse(run(gctrail, ['schema', name]))) }]));

function json(name, trace) {
  for (const [schema, { command, validate }] of Object.entries(schemas)) {
    for (const line of lines([...command, trace])) valid(name, `schema ${schema}`, validate, line);
  }
}

const skipped = [];
const load = await loader(modules, work);
const db = await (await DuckDBInstance.create(':memory:')).connect();
for (const trace of traces) {
  const name = basename(trace);
  const want = figures(trace);
  if (want.allocated > 0) {
    pprof(name, trace, want);
    speedscope(name, trace, want);
  }
  if (has('protoc')) perfetto(name, trace, want); else skipped.push('protoc');
  if (process.env.TRACE_PROCESSOR) await traceProcessor(name, trace, want, process.env.TRACE_PROCESSOR); else skipped.push("Perfetto's trace processor");
  if (want.snapshots.length > 0) {
    heapProfiles(name, trace, want);
    await objects(name, trace, want);
  }
  await firefox(name, trace, want);
  await tables(name, trace, want, db);
  await lists(name, trace, db);
  if (has('promtool')) openmetrics(name, trace, want); else skipped.push('promtool');
  json(name, trace);
  console.log(`${name}: ${want.gcs} GCs, ${want.pauses} pauses, ${want.allocated} bytes allocated, ${want.events} events`);
}
rmSync(work, { recursive: true, force: true });
if (skipped.length > 0) console.log(`skipped, not installed: ${[...new Set(skipped)].join(', ')}`);
console.log(`${checks} checks, ${failures.length} failed`);
failures.forEach((failure) => console.error(failure));
process.exit(failures.length > 0 ? 1 : 0);
