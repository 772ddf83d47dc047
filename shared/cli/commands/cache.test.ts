import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { type CacheReport, writeReport } from '#shared/stores/cache/reports.ts';
import type { Invalidation } from '#shared/stores/cache/invalidations.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const ORIGIN = 'http://localhost:3001';
const UPSTREAM = { serves: 'upstream', upstream: { url: 'http://127.0.0.1:8080/' } };
const space = (path: string, more: object) => ({
  url: `${ORIGIN}/${path}`,
  realm: path,
  schemes: ['Bearer'],
  ...UPSTREAM,
  ...more,
});
const SPACES = [
  space('shop/', { cache: {} }),
  space('shop/caf%C3%A9/', { cache: { kind: 'private' } }),
  space('plain/', {}),
];

async function configured(spaces: readonly object[] = SPACES): Promise<TestShell> {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  await writeFile(file, JSON.stringify({ tls: {}, spaces }));
  return new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
}

const told = (shell: TestShell, kind: Invalidation['kind']) =>
  withStores(shell, async ({ invalidations }) => {
    const list = await invalidations.list(kind, 10);
    return list.map((one) => [one.space, one.value, one.soft]);
  });

describe('cache purge', () => {
  test('purges a URL with its query from all caches', async () => {
    const shell = await configured();
    const purged = await json(shell, 'cache', 'purge', `${ORIGIN}/shop/a?b=%2f`);
    expect(purged).toEqual([{ space: '/shop/', target: '/shop/a?b=%2F', soft: false }]);
    expect(await told(shell, 'target')).toEqual([['/shop/', '/shop/a?b=%2F', false]]);
  });

  test('purges several URLs at once, softly, each in its own space', async () => {
    const shell = await configured();
    const urls = [`${ORIGIN}/shop/a`, `${ORIGIN}/shop/cafe%CC%81/b`];
    const { code, stdout } = await inProcess(shell, 'cache', 'purge', ...urls, '--soft');
    expect([code, stdout]).toEqual([0, `Purged ${urls[0]}.\nPurged ${urls[1]}.\n`]);
    expect(await told(shell, 'target')).toEqual([
      ['/shop/caf%C3%A9/', '/shop/cafe%CC%81/b', true],
      ['/shop/', '/shop/a', true],
    ]);
  });

  test('purges a URL at the TLS origin in the same way', async () => {
    const shell = await configured();
    await json(shell, 'cache', 'purge', 'https://localhost:3443/shop/a');
    expect(await told(shell, 'target')).toEqual([['/shop/', '/shop/a', false]]);
  });

  test.each([
    [`${ORIGIN}/plain/a`, 'no cache has it'],
    [`${ORIGIN}/shopping/a`, 'it is of no space'],
    ['http://other.example/shop/a', 'it is elsewhere'],
    ['/shop/a', 'it is no URL'],
    [`${ORIGIN}/shop/é`, 'no client asks so'],
    ['', 'it is empty'],
  ])('%s fails with %s, and no cache is notified', async (url) => {
    const shell = await configured();
    const { code } = await inProcess(shell, 'cache', 'purge', `${ORIGIN}/shop/a`, url);
    expect(code).toBe(1);
    expect(await told(shell, 'target')).toEqual([]);
  });

  test('names the spaces with a cache', async () => {
    const shell = await configured();
    const { stderr } = await inProcess(shell, 'cache', 'purge', `${ORIGIN}/plain/a`);
    expect(stderr).toContain(`spaces with one: ${ORIGIN}/shop/, ${ORIGIN}/shop/caf%C3%A9/`);
    const without = await configured([space('plain/', {})]);
    const none = await inProcess(without, 'cache', 'purge', `${ORIGIN}/plain/a`);
    expect(none.stderr).toContain('no space is configured with one');
  });
});

describe('cache ban', () => {
  test('bans a space in all caches', async () => {
    const shell = await configured();
    const rule = ['--path', '/img/*', '--status', '404', '--tag', 'news'];
    const { code, stdout } = await inProcess(shell, 'cache', 'ban', `${ORIGIN}/shop/`, ...rule);
    expect([code, stdout]).toEqual([0, 'Banned path=/img/* tag=news status=404 in /shop/.\n']);
    expect(await told(shell, 'ban')).toEqual([
      ['/shop/', '{"path":"/img/*","tag":"news","status":"404"}', false],
    ]);
  });

  test('bans softly', async () => {
    const shell = await configured();
    const banned = await json(shell, 'cache', 'ban', `${ORIGIN}/shop/`, '--tag', 'a', '--soft');
    expect(banned).toEqual({ space: '/shop/', banned: { tag: 'a' }, soft: true });
    expect(await told(shell, 'ban')).toEqual([['/shop/', '{"tag":"a"}', true]]);
  });

  test.each([[[]], [['--soft']], [['--path', 'img']], [['--status', '4x']], [['--tag', '']]])(
    'by %j is wrong usage',
    async (options) => {
      const shell = await configured();
      const { code } = await inProcess(shell, 'cache', 'ban', `${ORIGIN}/shop/`, ...options);
      expect(code).toBe(2);
      expect(await told(shell, 'ban')).toEqual([]);
    },
  );

  test('fails for a space without a cache', async () => {
    const shell = await configured();
    const { code } = await inProcess(shell, 'cache', 'ban', `${ORIGIN}/plain/`, '--tag', 'a');
    expect(code).toBe(1);
  });
});

const report = (more: Partial<CacheReport[number]> = {}): CacheReport => [
  {
    space: '/shop/',
    origin: ORIGIN,
    entries: 3,
    octets: 5 * 1024 * 1024,
    counts: { hit: 7, miss: 2 },
    bans: [],
    ...more,
  },
];

const put = (shell: TestShell, reports: Readonly<Record<string, string>>) =>
  withStores(shell, async ({ cacheReports }) => {
    for (const [process, text] of Object.entries(reports)) await cacheReports.put(process, text);
  });

describe('cache bans', () => {
  test('says that there are no bans', async () => {
    const { stdout } = await inProcess(await configured(), 'cache', 'bans');
    expect(stdout).toBe('There was no ban in the last day.\n');
  });

  test('shows the newest bans first, and the bans that processes have applied', async () => {
    const shell = await configured();
    await json(shell, 'cache', 'ban', `${ORIGIN}/shop/`, '--tag', 'a');
    shell.clock.advance(60);
    await json(shell, 'cache', 'ban', `${ORIGIN}/shop/`, '--path', '/b*', '--soft');
    const kept = await withStores(shell, ({ invalidations }) => invalidations.list('ban', 10));
    const untold = await inProcess(shell, 'cache', 'bans');
    expect(untold.stdout).toMatch(/ tag=a +removed +no process has reported yet\n$/);
    const bans = (swept: boolean) =>
      kept.map(({ at, value, soft }) => ({
        rule: JSON.parse(value) as Record<string, string>,
        soft,
        at,
        met: 2,
        swept,
      }));
    await put(shell, {
      one: writeReport(report({ bans: bans(true) })),
      two: writeReport(report({ bans: bans(false).slice(0, 1) })),
      other: writeReport(report({ space: '/other/', bans: bans(false) })),
      later: '{}',
    });
    expect(await json(shell, 'cache', 'bans')).toEqual([
      expect.objectContaining({
        space: '/shop/',
        banned: { path: '/b*' },
        soft: true,
        met: 4,
        pending: 1,
      }),
      expect.objectContaining({
        space: '/shop/',
        banned: { tag: 'a' },
        soft: false,
        met: 2,
        pending: 0,
      }),
    ]);
    const { stdout } = await inProcess(shell, 'cache', 'bans');
    expect(stdout).toMatch(
      /^TIME +SPACE +BANNED +ANSWERS ARE +MET +PROGRESS\n\S+Z +\/shop\/ +path=\/b\* +asked for again +4 +1 process not yet done\n/,
    );
    expect(stdout).toMatch(/\n\S+Z +\/shop\/ +tag=a +removed +2 +done\n$/);
  });
});

describe('cache stats', () => {
  test('says that there are no statistics', async () => {
    const { stdout } = await inProcess(await configured(), 'cache', 'stats');
    expect(stdout).toContain('No process has reported a cache.');
  });

  test('shows a row for each process and space', async () => {
    const shell = await configured();
    const ban = { soft: false, at: 1, met: 0, swept: false };
    await put(shell, {
      two: writeReport(report({ bans: [ban] })),
      one: writeReport(report()),
      later: '[1]',
    });
    const { stdout } = await inProcess(shell, 'cache', 'stats');
    expect(stdout).toBe(
      `PROCESS  SPACE                        ANSWERS  SIZE     COUNTS\n` +
        `one      ${ORIGIN}/shop/  3 kept   5.0 MiB  hit 7, miss 2\n` +
        `two      ${ORIGIN}/shop/  3 kept   5.0 MiB  hit 7, miss 2  a ban is under way\n`,
    );
    expect(await json(shell, 'cache', 'stats')).toEqual([
      { process: 'one', ...report()[0] },
      { process: 'two', ...report()[0], bans: [ban] },
    ]);
  });
});
