import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '#shared/base/version.ts';
import { crash, type Turn } from './crashes.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';

/**
 * The build under test, and a copy of it with another version number, in a place where packages are found.
 */
const BUILD = process.env['BUNDLE_UNDER_TEST'] ?? '';
const LATER = `${BUILD}-later-${process.pid}`;
const LATER_VERSION = '999.0.0';

beforeAll(async () => {
  await cp(BUILD, LATER, { recursive: true, verbatimSymlinks: true });
  const files = (await readdir(LATER, { recursive: true })).filter((file) => file.endsWith('.js'));
  const named = files.map(async (file) => {
    const text = await readFile(join(LATER, file), 'utf8');
    const other = text.replace(`version: "${VERSION}"`, `version: "${LATER_VERSION}"`);
    if (other === text) return 0;
    await writeFile(join(LATER, file), other);
    return 1;
  });
  const changed = (await Promise.all(named)).reduce<number>((sum, one) => sum + one, 0);
  expect(changed).toBeGreaterThan(0);
});
afterAll(() => rm(LATER, { recursive: true, force: true }));

const TURNS = 6;

test.each(STORE_KINDS)(
  'on %s: servers of two builds replace each other under load, and no acknowledged write is lost',
  async (kind) => {
    await using flow = await startFlowOn(kind, { resource: 2 });
    const { pair } = flow;
    const later = new Set<string>();
    const seen = new Set<string>();
    const turn: Turn = {
      end: (victim) => victim.kill('SIGTERM'),
      async start(victim) {
        const wasLater = later.delete(victim.url);
        if (!wasLater) later.add(victim.url);
        await victim.start(wasLater ? undefined : LATER);
        const { processes } = await pair.cli('server', 'status');
        for (const { version, state } of processes as { version: string; state: string }[]) {
          if (state !== 'ended') seen.add(version);
        }
      },
    };
    const tally = await crash(flow, TURNS, () => {}, turn);
    expect(tally.kills).toBe(TURNS);
    expect(seen).toEqual(new Set([VERSION, LATER_VERSION]));
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(0);
  },
);
