import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { PersonAtPages } from './person-at-pages.ts';

/**
 * Runs a script that is a client: the script reads a line of JSON, prints the URL for the browser, and
 * reads the resulting URL. Returns the JSON that it prints at the end. Rejects with its traceback.
 */
export async function runScript(
  [program = '', ...args]: readonly string[],
  asked: object,
  browser: PersonAtPages,
  env: NodeJS.ProcessEnv = process.env,
): Promise<unknown> {
  const child = spawn(program, args, { stdio: 'pipe', env });
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
