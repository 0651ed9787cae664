#!/usr/bin/env node
'use strict';

// Runs gctrail, from the package for this system and processor that npm has installed as an
// optional dependency of this one. Nothing is downloaded here.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { isatty } = require('node:tty');
const { optionalDependencies, version } = require('../package.json');

const windows = process.platform === 'win32';
const target = `${process.platform}-${process.arch}`;
const dependency = `@gctrail/${target}`;

// The exit code of gctrail where it cannot read or run something.
const failed = 3;

function fail(text) {
  process.stderr.write(`gctrail: ${text}\n`);
  process.exit(failed);
}

function find() {
  if (!(dependency in optionalDependencies)) {
    fail(`npm has no gctrail for ${target}. Build it with Go: go install github.com/gctrail/gctrail/cmd/gctrail@v${version}`);
  }
  try {
    return require.resolve(`${dependency}/bin/gctrail${windows ? '.exe' : ''}`);
  } catch {
    return fail(`the package ${dependency} is not installed, which has the program. npm leaves it out with --omit=optional or ` +
      `--no-optional, and if node_modules was installed on another system. Install it: npm install ${dependency}@${version}`);
  }
}

// The signals that gctrail answers by ending in order, and a second one of them by ending at
// once. A terminal sends all but SIGTERM to every program in the foreground, so that gctrail
// has them already; Windows does the same, and knows no other way.
const signals = ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM'];
const terminal = windows || [0, 1, 2].some(isatty);

function run(program, args) {
  let child;
  for (const signal of signals) { // before gctrail starts: then nothing is missed
    process.on(signal, () => {
      if (signal === 'SIGTERM' || !terminal) child.kill(signal);
    });
  }
  child = spawn(program, args, { stdio: 'inherit', windowsHide: false });
  child.on('error', (error) => fail(`cannot run ${program}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    signals.forEach((s) => process.removeAllListeners(s));
    process.exitCode = 128 + constants.signals[signal]; // if it is one that Node.js survives
    process.kill(process.pid, signal);
  });
}

const program = find();
const args = process.argv.slice(2);
// Newer versions of Node.js can become gctrail, so that nothing stands between it and signals.
if (!windows && process.execve) process.execve(program, [program, ...args], process.env);
run(program, args);
