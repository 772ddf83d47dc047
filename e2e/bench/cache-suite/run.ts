import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePort } from '../../parts/free-port.ts';
import { NODE, startProcess } from '../../parts/process.ts';
import { outcome, type Outcome } from './score.ts';

const run = promisify(execFile);
/** The time limit of a whole run in milliseconds. A run takes about half a minute. */
const PATIENCE = 600_000;
const MOST_OUTPUT = 64 * 1024 ** 2;

const fileOf = (name: string) => new URL(name, import.meta.url).pathname;

/**
 * Starts the origin server that the suite reaches through a cache; the stack ends it. Returns its origin.
 */
export async function startOrigin(stack: AsyncDisposableStack, folder: string): Promise<string> {
  const port = await freePort();
  const origin = await startProcess(process.execPath, [fileOf('origin.ts'), folder, `${port}`], {
    env: NODE,
    ready: (output) => output.includes('listening'),
  });
  stack.use(origin);
  return `http://127.0.0.1:${port}`;
}

/** Runs all tests of the suite through the cache at this address. */
export async function runSuite(folder: string, base: string): Promise<Outcome> {
  const { stdout } = await run(process.execPath, [fileOf('client.ts'), folder, base], {
    env: NODE,
    maxBuffer: MOST_OUTPUT,
    timeout: PATIENCE,
  });
  return outcome.parse(JSON.parse(stdout.trim().slice(stdout.trim().lastIndexOf('\n') + 1)));
}
