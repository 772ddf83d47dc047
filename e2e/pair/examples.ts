import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { entryFile } from '../parts/entry.ts';
import type { Pair } from './pair.ts';

/** The examples of a documentation page, which tests run unchanged. */
const ROOT = new URL('../../', import.meta.url).pathname;

/** The command line of the test run. npm would add nearly as much CPU time as a command takes. */
const CLI = `'${process.execPath}' '${entryFile('shared/cli/main.ts')}'`;

/**
 * Returns the fenced blocks of a page whose info string is `info` (`sh tour`), in order, without their fences.
 * `page`: its path from the top. Throws if the page has none.
 */
export async function examples(page: string, info: string): Promise<readonly string[]> {
  const markdown = await readFile(join(ROOT, page), 'utf8');
  const fenced = /^```([^\n]*)\n(.*?)^```$/gms;
  const found = [...markdown.matchAll(fenced)].filter(([, ofBlock]) => ofBlock === info);
  if (found.length === 0) throw new Error(`${page} has no block of "${info}".`);
  return found.map(([, , block = '']) => block);
}

/**
 * Runs commands by bash in the repository's folder, with the pair's addresses and files in place of those
 * of `npm start`, with the variables of `first-start.env`, and with the command line of the test run in place of
 * `npm run -s cli --`. Returns the output of each command. Throws if one fails. Each line is a command, unless it
 * continues a line that ends in a backslash.
 */
export async function runCommands(pair: Pair, commands: string): Promise<readonly string[]> {
  const script = commands
    .replaceAll('npm run -s cli --', CLI)
    .trim()
    .split(/(?<!\\)\n/)
    .map((line) => `${line}\nprintf '\\036'\n`)
    .join('');
  const bash = spawn('bash', ['-eu'], {
    cwd: ROOT,
    env: { ...pair.env, PATH: process.env['PATH'] },
    stdio: 'pipe',
  });
  bash.stdin.end(`. '${join(pair.data, 'first-start.env')}'\n${atPair(pair, script)}`);
  const [out, errors] = await Promise.all([
    text(bash.stdout),
    text(bash.stderr),
    once(bash, 'close'),
  ]);
  if (bash.exitCode !== 0) throw new Error(`${out}\n${errors}`);
  return out.split('\u001e').slice(0, -1);
}

/** The text of an example with the pair's addresses and files in place of those of `npm start`. */
export function atPair(pair: Pair, example: string): string {
  return example
    .replaceAll('http://localhost:3000', pair.issuer)
    .replaceAll('http://localhost:3001', pair.resource)
    .replaceAll('https://localhost:3443', pair.resourceTls)
    .replaceAll('https://localhost:3444', pair.tokenIssuer)
    .replaceAll(/(?<![\w/])data\//g, `${pair.data}/`)
    .replaceAll('http://127.0.0.1:3128', pair.proxies[0] ?? '');
}
