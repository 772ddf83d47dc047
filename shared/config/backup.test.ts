import { expect, test } from '@jest/globals';
import { RULES } from './rules.ts';
import { configSchema } from './schema.ts';

const mistakes = (given: object) =>
  RULES.flatMap(({ check }) => check(configSchema.parse(given), {})).filter(({ path }) =>
    path.startsWith('backup'),
  );

test('a scheduled backup may be in any folder outside of the store', () => {
  for (const folder of ['./data', 'data/', 'data/content', 'data/x/..']) {
    expect(mistakes({ backup: { folder } })).toEqual([
      { path: 'backup.folder', message: expect.stringContaining('where the store itself is') },
    ]);
  }
  for (const folder of ['data/backups', '/var/backups/countersign']) {
    expect(mistakes({ backup: { folder } })).toEqual([]);
  }
  expect(mistakes({ data: '/d', backup: { folder: '/d' } })).toHaveLength(1);
});

test('with PostgreSQL the folder is optional, because PostgreSQL has its own backup tools', () => {
  const store = { kind: 'postgres', urls: ['postgres://me@localhost/db'] };
  for (const backup of [{ folder: '/b' }, { every: 3600 }]) {
    expect(mistakes({ store, backup })).toEqual([]);
  }
  expect(mistakes({ store, data: '/d', backup: { folder: '/d/content' } })).toHaveLength(1);
});

test('with SQLite a schedule needs a folder', () => {
  expect(mistakes({ backup: { every: 3600 } })).toEqual([
    { path: 'backup.folder', message: 'is missing' },
  ]);
});

test.each([
  { folder: '' },
  { folder: '/b', keep: 0 },
  { folder: '/b', every: 59 },
  { folder: '/b', every: 3600.5 },
  { folder: '/b', more: 1 },
  { every: 0 },
])('%j is refused', (backup) => {
  expect(configSchema.safeParse({ backup }).success).toBe(false);
});
