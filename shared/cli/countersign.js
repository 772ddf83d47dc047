#!/usr/bin/env node
// The launcher: plain JavaScript for any Node from 16 on. `countersign start` runs both servers, any
// other command is the command line's. It picks a Node that can run them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const starts = process.argv[2] === 'start';
const entry = starts ? 'shared/start/main' : 'shared/cli/main';
const source = join(root, `${entry}.ts`);
const file = existsSync(source) ? source : join(root, 'dist', `${entry}.js`);
const args = process.argv.slice(starts ? 3 : 2);

// npm that is asked to end passes it on to its shell, which dies without a word to us.
if (starts && process.env.npm_lifecycle_event) {
  const { ppid } = process;
  const watch = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200).unref();
}

const [major, minor] = process.versions.node.split('.').map(Number);
const packaged = packagedNode();

if (major > 24 || (major === 24 && minor >= 7)) {
  process.argv = [process.execPath, file, ...args];
  await import(pathToFileURL(file).href);
} else if (packaged) {
  const child = spawn(packaged, [file, ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
} else {
  console.error(
    `Countersign needs Node.js 24.7 or later, and this is ${process.version}: install Node.js 24 LTS from https://nodejs.org`,
  );
  process.exitCode = 1;
}

/** The Node of the optional package for this machine, if npm has installed it. */
function packagedNode() {
  const platform = { linux: 'linux', win32: 'win' }[process.platform];
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `node-${platform}-${process.arch}/package.json`,
    );
    const node = join(dirname(manifest), 'bin', platform === 'win' ? 'node.exe' : 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}
