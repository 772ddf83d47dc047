import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BESIDE, forbiddenBy, ON_KEYS } from './permissions.ts';

/** A command in a script, in a list of words, or in a type that has several. */
const COMMAND = /(?:\.p?call\(|ommand(?:<[^']*?>)?\(|\[|\|)\s*'(?!COUNT')([A-Z]{3,})'/g;

/** Commands that are sent to other servers or in another way, or that are optional. */
const OTHERS = ['CONFIG', 'EVAL', 'KEYS', 'ROLE', 'SENTINEL'];

test('the permissions that are checked at the start are exactly those of the commands in the code', async () => {
  const found = new Set<string>(OTHERS);
  const folder = import.meta.dirname;
  for await (const file of glob('**/*.ts', { cwd: folder })) {
    if (/\.(?:test|fixture)\.ts$/.test(file)) continue;
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, command = ''] of text.matchAll(COMMAND)) found.add(command);
  }
  const known = [...ON_KEYS, ...BESIDE, ...OTHERS].map((name) => name.split('|')[0]);
  expect([...found].toSorted()).toEqual(known.toSorted((a = '', b = '') => (a < b ? -1 : 1)));
});

test.each([
  ["NOPERM User app has no permissions to run the 'info' command", 'INFO'],
  ["NOPERM this user has no permissions to run the 'xadd' command or its subcommand", 'XADD'],
  ["NOPERM User app has no permissions to run the 'cluster|slots' command", 'CLUSTER SLOTS'],
  ['NOPERM No permissions to access a key', 'No permissions to access a key'],
])('%s', (message, lacks) => {
  expect(forbiddenBy(new Error(message))).toContain(`who lacks: ${lacks}. Give`);
});

test('another error is not taken for a missing permission', () => {
  expect(forbiddenBy(new Error('WRONGPASS invalid username-password pair'))).toBeUndefined();
});
