import { expect, test } from '@jest/globals';
import { overview } from './notices.ts';
import type { Tell } from './tell.ts';

const tellOf = (warnings: readonly object[]): Tell => ({
  one: (name) => Promise.resolve(name === 'server status' ? { warnings } : { items: [] }),
  items: () => Promise.resolve([]),
});

test('warnings that say the same are one line, with a count and the first paths', async () => {
  const alike = Array.from({ length: 7 }, (_, index) => ({
    path: `spaces.${index}.allow`,
    message: 'is missing',
  }));
  const { notices } = await overview(
    tellOf([...alike, { path: 'mail', message: 'is far' }]),
    0,
    'en',
  );
  expect(notices.map(({ text, detail }) => [text, detail])).toEqual([
    [
      'Check 7 settings:',
      'spaces.0.allow, spaces.1.allow, spaces.2.allow, spaces.3.allow, spaces.4.allow (+ 2) is missing.',
    ],
    ['Check a setting:', 'mail is far.'],
  ]);
});

test.each([
  ['production', {}, ['Backups are not set up, and no complete backup is known']],
  ['production', { backup_at: 1 }, []],
  ['production', { backup_every: 60 }, []],
  ['development', {}, []],
])(
  'backups that nobody has set up want attention, in production: %s, %j',
  async (mode, known, said) => {
    const tell: Tell = {
      one: (name) => Promise.resolve(name === 'server status' ? { mode, ...known } : { items: [] }),
      items: () => Promise.resolve([]),
    };
    const { notices } = await overview(tell, 0, 'en');
    expect(notices.map(({ text }) => text)).toEqual(said);
  },
);

test('the first of many different warnings have a line each, and the others are counted', async () => {
  const warnings = Array.from({ length: 40 }, (_, index) => ({
    path: `p${index}`,
    message: `m${index}`,
  }));
  const { notices } = await overview(tellOf(warnings), 0, 'en');
  expect(notices.map(({ detail }) => detail)).toEqual([
    'p0 m0.',
    'p1 m1.',
    'p2 m2.',
    'p3 m3.',
    undefined,
  ]);
  expect(notices.at(-1)).toEqual({ text: 'and 36 more', href: '/admin/server-status' });
});

test('warnings are in German by their code, with their values', async () => {
  const network = '10.0.0.0/8 {port}';
  const warnings = [
    { path: 'cache.purge.networks', code: 'purge-by-proxy', values: { network }, message: 'x' },
  ];
  const { notices } = await overview(tellOf(warnings), 0, 'de');
  expect(notices[0]?.detail).toMatch(
    /^cache\.purge\.networks umfasst 10\.0\.0\.0\/8 \{port\}, wo laut trustedProxies ein Proxy steht/,
  );
});
