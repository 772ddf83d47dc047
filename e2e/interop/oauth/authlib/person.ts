import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { PersonAtPages } from '../person-at-pages.ts';

/** Debian's python3-authlib: its OAuth2Session as an application to which people sign in. */
const SCRIPT = new URL('person.py', import.meta.url).pathname;

/** Runs the script, with the browser where it says, and returns its output. Rejects with its traceback. */
export async function runPerson(asked: object, browser: PersonAtPages): Promise<unknown> {
  const child = spawn('/usr/bin/python3', ['-B', SCRIPT], { stdio: 'pipe' });
  const ended = once(child, 'close');
  const errors = text(child.stderr);
  child.stdin.write(`${JSON.stringify(asked)}\n`);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (lines.push(line) > 1) continue;
    child.stdin.end(`${(await browser.answer(line)).href}\n`);
  }
  await ended;
  if (child.exitCode !== 0) throw new Error(await errors);
  return JSON.parse(lines.at(-1) ?? '');
}
