/** @needs python3 */
/** Runs the Python programs of this folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const FOLDER = new URL('.', import.meta.url).pathname;
const start = (...args: readonly string[]) =>
  spawn('/usr/bin/python3', ['-B', ...args], {
    cwd: FOLDER,
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    stdio: 'pipe',
  });

export interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program to its end. */
export async function python(...args: readonly string[]): Promise<Ended> {
  const child = start(...args);
  child.stdin.end();
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode: child.exitCode, output, errors };
}

/** A line of client.py: a sent or received message, or a result. */
export interface Happened {
  readonly event: 'sent' | 'received' | 'tunnel' | 'result' | 'broken';
  readonly at?: 'origin' | 'proxy';
  readonly message?: string;
  readonly nc?: number;
  readonly status?: number;
  readonly url?: string;
  readonly verdict?: 'AUTH-SUCCEED' | 'AUTH-REQUIRED' | 'UNAUTHENTICATED';
  readonly body?: string;
  readonly reason?: string;
}

/** Runs client.py, and returns its result. That file lists its exit codes. */
export async function mutualClient(
  ...args: readonly string[]
): Promise<{ exitCode: number | null; happened: readonly Happened[] }> {
  const { exitCode, output, errors } = await python('client.py', ...args);
  if (errors !== '') throw new Error(errors);
  const lines = output.split('\n').filter((line) => line !== '');
  return { exitCode, happened: lines.map((line) => JSON.parse(line) as Happened) };
}

export interface MutualServer extends AsyncDisposable {
  readonly port: number;
}

/** Runs server.py until it is disposed of. */
export async function startMutualServer(...args: readonly string[]): Promise<MutualServer> {
  const child = start('server.py', ...args);
  const closed = once(child, 'close');
  const errors = text(child.stderr);
  const lines = createInterface(child.stdout);
  const [line] = (await Promise.race([once(lines, 'line'), closed.then(() => [])])) as [string?];
  if (line === undefined) throw new Error(await errors);
  return {
    port: (JSON.parse(line) as { port: number }).port,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
