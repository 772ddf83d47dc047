import { expect, test } from '@jest/globals';
import { grouped, overview } from './help.ts';

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

test('a whole name has precedence over a first word', () => {
  const groups = grouped(named('token get', 'token explain', 'user add'));
  const full = groups.filter(({ commands }) => commands.length > 0);
  expect(full.map(({ title, commands }) => [title, commands.map(({ name }) => name)])).toEqual([
    ['People', ['user add']],
    ['Log in, get tokens, send requests', ['token get']],
    ['Find out what is wrong', ['token explain']],
  ]);
});

test('the help of all commands has a title above each group that has commands', () => {
  const command = (name: string) => ({
    name,
    summary: `does ${name}`,
    run: () => Promise.reject(),
  });
  expect(overview([command('backup'), command('user add')], true).slice(0, 11)).toEqual([
    'Usage: countersign COMMAND [OPTION]...',
    '',
    'Set up:',
    '  start     run both servers, or one, in the foreground: start --help',
    '',
    'People:',
    '  user add  does user add',
    '',
    'Back up and move:',
    '  backup    does backup',
    '',
  ]);
});
