// The loader of heap snapshots of Chrome's DevTools, whose sources an npm package has.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { build } from 'esbuild';

// A part of DevTools that its own build makes: the languages of its interface.
const locales = {
  name: 'locales',
  setup(b) {
    b.onResolve({ filter: /\/locales\.js$/ }, () => ({ path: 'locales', namespace: 'made' }));
    b.onLoad({ filter: /^locales$/, namespace: 'made' }, () => ({
      contents: ['LOCALES', 'BUNDLED_LOCALES'].map((name) => `export const ${name} = ['en-US'];`).join('') +
        ['DEFAULT_LOCALE', 'REMOTE_FETCH_PATTERN', 'LOCAL_FETCH_PATTERN'].map((name) => `export const ${name} = 'en-US';`).join(''),
    }));
  },
};

// loader returns a function that loads a .heapsnapshot file, and returns the sums of it and
// the classes of objects.
export async function loader(modules, work) {
  const sources = join(modules, 'chrome-devtools-frontend/front_end');
  const outfile = join(work, 'devtools.mjs');
  await build({
    stdin: {
      contents: `export { HeapSnapshotLoader } from './entrypoints/heap_snapshot_worker/HeapSnapshotLoader.ts';
        export { SecondaryInitManager } from './entrypoints/heap_snapshot_worker/HeapSnapshot.ts';
        export { NodeFilter } from './models/heap_snapshot/HeapSnapshotModel.ts';`,
      resolveDir: sources, loader: 'ts',
    },
    bundle: true, platform: 'node', format: 'esm', logLevel: 'error', outfile, plugins: [locales],
  });
  Promise.withResolvers ??= () => {
    const all = {};
    all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
    return all;
  };
  const { HeapSnapshotLoader, SecondaryInitManager, NodeFilter } = await import(pathToFileURL(outfile));
  return async (file) => {
    const { warn } = console;
    console.warn = () => {}; // of objects that nothing refers to
    const channel = new MessageChannel();
    try {
      const loader = new HeapSnapshotLoader({ sendEvent() {} });
      loader.write(readFileSync(file, 'utf8'));
      loader.close();
      new SecondaryInitManager(channel.port2);
      const snapshot = await loader.buildSnapshot(channel.port1);
      const classes = Object.values(snapshot.aggregatesWithFilter(new NodeFilter()));
      return { bytes: snapshot.totalSize, classes: classes.map((c) => ({ name: c.name, objects: c.count, bytes: c.self, retained: c.maxRet })) };
    } finally {
      console.warn = warn;
      channel.port1.close();
    }
  };
}
