import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { memoryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU } from './cpu.ts';
import { type HttpRequest, serialize } from './requests.ts';

const run = promisify(execFile);
/** The time limit of an answer: 32 password hashes at once take two seconds each on a slow machine. */
const PATIENCE = '20s';
const SCRIPT = new URL('wrk.lua', import.meta.url).pathname;

const result = z.object({
  requests: z.int(),
  microseconds: z.int(),
  /** Microseconds from a request to its answer. */
  p50: z.int(),
  p99: z.int(),
  /** Statuses above 399, broken connections and timeouts. */
  errors: z.int(),
});

export type WrkResult = z.infer<typeof result>;

export interface WrkOptions {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly seconds: number;
}

/** One run of Debian's wrk: one thread, on the load generator's CPU. Rejects if it has no result. */
export async function wrk({ url, requests, connections, seconds }: WrkOptions): Promise<WrkResult> {
  // In memory, so that no disk access of the test delays a server's writes.
  await using folder = await memoryFolder();
  const file = join(folder.path, 'requests');
  const { host } = new URL(url);
  await writeFile(file, requests.map((request) => `${serialize(request, host)}\0`).join(''));
  const load = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', PATIENCE];
  const options = [...load, '-s', SCRIPT, url, '--', file];
  const { stdout } = await run('taskset', ['-c', `${LOAD_CPU}`, 'wrk', ...options]);
  const line = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk has no result: ${stdout}`);
  return result.parse(JSON.parse(line));
}
