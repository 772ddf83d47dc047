import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { PROXY_SETTINGS, SCHEMES, SPACE_SETTINGS } from './list.ts';
import type { SchemeEntry } from './parts/scheme-entry.ts';

const entries: readonly SchemeEntry[] = SCHEMES;

test('no two schemes have the same name, the same path in the tour or the same member of the configuration', () => {
  const names = entries.map(({ name }) => name.toLowerCase());
  const paths = entries.flatMap(({ trial }) => trial?.path ?? []);
  const members = entries.flatMap(({ settings }) => Object.keys(settings));
  for (const all of [names, paths, members]) expect(new Set(all).size).toBe(all.length);
  expect(Object.keys(SPACE_SETTINGS).toSorted()).toEqual(members.toSorted());
});

test('the configuration of a proxy has the members of all schemes that a proxy can ask for', () => {
  expect(Object.keys(PROXY_SETTINGS)).toEqual(['concealed', 'mutual', 'digest']);
});

test('the page on schemes describes each space of the default configuration', () => {
  const [, table = ''] = readFileSync('docs/how-to/schemes/README.md', 'utf8').split(
    '| at `/schemes/…/` |',
  );
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n');
  const said = rows.map((row) => row.split('|')[1] ?? '').join();
  const named = said.match(/(?<=`)[^`,]+(?=`)/g) ?? [];
  const paths = entries.flatMap(({ trial }) => trial?.path ?? []);
  expect(named.toSorted()).toEqual([...paths, 'all'].toSorted());
});
