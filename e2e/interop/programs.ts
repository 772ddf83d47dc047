/** @needs curl python3 wget */
/** Runs third-party programs, and reads the answers that they got. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An environment without a person's own settings and passwords. */
const ENV: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  LC_ALL: 'C.UTF-8',
};

export interface Journey {
  /** The statuses of all answers, in order. */
  readonly statuses: readonly number[];
  /** The fields of the last answer; their names are in lower case. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The content of the last answer. */
  readonly body: string;
}

export type Curl = (...args: readonly string[]) => Promise<Journey>;

export const curl: Curl = async (...args) => {
  const always = ['--silent', '--show-error', '--include', '--max-time', '20'];
  const { stdout } = await run('curl', [...always, ...args], { env: ENV });
  const answers = stdout.split(/(?=HTTP\/1\.1 \d{3} )/).map(parse);
  const last = answers.at(-1);
  if (last === undefined) throw new Error('curl got no answer');
  return { ...last, statuses: answers.map(({ status }) => status) };
};

function parse(answer: string) {
  const end = answer.indexOf('\r\n\r\n');
  const [line = '', ...lines] = answer.slice(0, end).split('\r\n');
  const fields = new Map<string, string[]>();
  for (const field of lines) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), field.slice(colon + 2)]);
  }
  return { status: Number(line.split(' ')[1]), fields, body: answer.slice(end + 4) };
}

/** The error of a program that failed. */
interface Ended extends Error {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit code of wget after a 401. */
const WGET_REFUSED = 6;

export async function wget(...args: readonly string[]): Promise<Omit<Journey, 'fields'>> {
  const always = ['--server-response', '--output-document=-', '--tries=1', '--timeout=20'];
  const wgot = run('wget', [...always, ...args], { env: ENV });
  const { stdout, stderr } = await wgot.catch((error: Ended) => {
    if (error.code !== WGET_REFUSED) throw error;
    return error;
  });
  const statuses = [...stderr.matchAll(/^ {2}HTTP\/1\.1 (\d{3})/gm)].map(([, code]) =>
    Number(code),
  );
  return { statuses, body: stdout };
}

/** A person's name and password, and the requests to send. */
export interface Asking {
  readonly scheme: 'basic' | 'digest';
  readonly name: string;
  readonly password: string;
  readonly requests: readonly (readonly [method: string, url: string, content?: string])[];
}

/** The outcome of one request: all statuses, the content of the last answer, and the last `nc` sent. */
export interface Asked {
  readonly statuses: readonly number[];
  readonly body: string;
  readonly nc: string | null;
}

/** Runs a library of Debian's Python; rejects with its traceback. */
export async function python(library: 'requests' | 'httpx', asking: Asking): Promise<Asked[]> {
  const file = new URL(`${library}_client.py`, import.meta.url).pathname;
  const child = spawn('/usr/bin/python3', ['-B', file], { env: ENV, stdio: 'pipe' });
  child.stdin.end(JSON.stringify(asking));
  const [out, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(errors);
  return JSON.parse(out) as Asked[];
}
