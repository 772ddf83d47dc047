import fs, { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';

/**
 * A test imports this before the command line, with a query. It copies the folder `data` before each call that changes
 * a file there, to a subfolder of `states` with the call's number and name. A killed process leaves one of these
 * states, as long as SQLite writes nothing meanwhile.
 */
const { data = '', states = '' } = Object.fromEntries(new URL(import.meta.url).searchParams);
const CHANGING =
  /^(?:append|chmod|copyFile|createWriteStream|ftrunc|link|mkdir|open|rename|rm|trunc|unlink|write)/;

let isCopying = false;
function keep(call: string, args: readonly unknown[]): void {
  if (isCopying || !args.some((arg) => typeof arg === 'string' && arg.startsWith(data))) return;
  isCopying = true;
  const number = String(readdirSync(states).length).padStart(3, '0');
  const state = join(states, `${number}-${call}-${basename(String(args[0]))}`, basename(data));
  while (!isCopied(state));
  isCopying = false;
}

/** Copies the folder. False: a file was removed during the copy, since several removals run at once. */
function isCopied(state: string): boolean {
  try {
    mkdirSync(dirname(state));
    cpSync(data, state, { recursive: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    rmSync(dirname(state), { recursive: true });
    return false;
  }
}

for (const calls of [fs, fs.promises] as unknown as Record<string, unknown>[]) {
  for (const [name, call] of Object.entries(calls)) {
    if (!CHANGING.test(name) || typeof call !== 'function') continue;
    calls[name] = (...args: readonly unknown[]) => {
      keep(name, args);
      return call(...args);
    };
  }
}
syncBuiltinESMExports();
