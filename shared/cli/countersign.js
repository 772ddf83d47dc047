#!/usr/bin/env node
// The launcher: plain JavaScript for any Node from 16 on. `countersign start` runs both servers, any
// other command is the command line's. It picks a Node that can run them.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { NEEDS_NODE, packagedNode, whyNot, withoutGlibc } from './packaged-node.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = process.argv.slice(2);
const asksHelp = ['help', '--help', '-h'].includes(words[0] ?? '');
const starts = words[asksHelp ? 1 : 0] === 'start';
const source = existsSync(join(root, 'shared/cli/main.ts'));
const built = source ? await bundleOfSource() : join(root, 'dist');
const command = words.join(' ') === 'server ready' ? 'ready/main' : 'main';
const entry = starts ? 'shared/start/main.js' : `shared/cli/${command}.${built ? 'js' : 'ts'}`;
const file = join(built ?? root, entry);
const startArgs = asksHelp ? ['--help'] : words.slice(1);
const args = starts ? startArgs : words;

// Without this listener, SIGUSR1 would make Node open a debugger, to which any user of the machine may connect.
if (starts) process.on('SIGUSR1', () => {});

// If npm gets a signal, it passes the signal only to its shell, which dies without informing this process.
if (starts && process.env['npm_lifecycle_event']) {
  const { ppid } = process;
  const watch = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200).unref();
}

const compiled = compiledFolder();
if (compiled) {
  module.enableCompileCache?.(compiled);
  process.env['NODE_COMPILE_CACHE'] = compiled;
}

if (process.argv[2] === '--version') {
  const { version } = module.createRequire(import.meta.url)('../../package.json');
  console.log(`countersign ${version}`);
  process.exit();
}

const [major = 0] = process.versions.node.split('.').map(Number);
const packaged = packagedNode();
const noGlibc = major < 26 && packaged ? withoutGlibc() : undefined;

if (major >= 26) {
  process.argv = [process.execPath, file, ...args];
  await import(pathToFileURL(file).href);
} else if (noGlibc) {
  console.error(noGlibc);
  process.exitCode = 1;
} else if (packaged) {
  const child = spawn(packaged, [file, ...args], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ ([
    'SIGINT',
    'SIGTERM',
    'SIGHUP',
    'SIGQUIT',
    'SIGUSR2',
  ])) {
    process.on(signal, () => child.kill(signal));
  }
  /** @param {number} exitCode */
  const failed = (exitCode) => {
    const why = whyNot(packaged);
    if (why) console.error(why);
    process.exitCode = exitCode;
  };
  child.on('error', () => failed(1));
  child.on('exit', (code, signal) => {
    if (signal) process.exitCode = 128 + constants.signals[signal];
    else if (code) failed(code);
  });
} else {
  console.error(NEEDS_NODE);
  process.exitCode = 1;
}

/**
 * Resolves to the folder with the bundle that `npm ci` has made of the source (e2e/prepare.ts), which starts in half
 * the time. Undefined if there is no bundle, or a source file has changed since.
 */
async function bundleOfSource() {
  const folder = join(root, 'node_modules/.cache/start');
  const { isAsMade } = await import('./made-of.js');
  return (await isAsMade(folder)) ? folder : undefined;
}

/**
 * Returns the folder of Node's compile cache beside the code. Only this user may write there, since its files decide
 * what runs. Undefined if there is no such folder, or the environment names another.
 */
function compiledFolder() {
  if (process.env['NODE_COMPILE_CACHE'] !== undefined) return undefined;
  const folder = join(root, 'node_modules/.cache/countersign');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    return uid === process.geteuid?.() && (mode & 0o077) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
