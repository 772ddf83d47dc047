import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { entryOf } from './entry.ts';
import { createRecorder } from './recorder.ts';
import { auditSettings } from './settings.ts';

async function recorded(required = true) {
  const clock = new ManualClock(1_800_000_000_000);
  const stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  let failing = false;
  const append = (...texts: readonly string[]) =>
    failing ? Promise.reject(new Error('full')) : stores.audit.append(...texts);
  const parts = {
    stores: { ...stores, audit: { ...stores.audit, append } },
    clock,
    log: silentLog,
    config: { audit: auditSettings.parse({ required }) },
  };
  const recorder = createRecorder(parts, { who: 'server', how: 'chore' });
  return {
    clock,
    recorder,
    issue: (client: string, type = 'client_credentials') =>
      recorder.ownToken(client, type, { who: { client }, how: 'token endpoint' }),
    fail: (fails: boolean) => {
      failing = fails;
    },
    entries: async () => (await stores.audit.open()).texts.map(entryOf),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}

test('a client with many tokens has two events a minute, which say how many tokens it got', async () => {
  await using log = await recorded();
  const { clock, recorder } = log;
  for (let minute = 0; minute < 3; minute += 1) {
    await Promise.all(Array.from({ length: 50 }, () => log.issue('app')));
    await recorder.tellOwnTokens(clock.now());
    clock.advance(60);
    await recorder.tellOwnTokens(clock.now());
  }
  const entries = await log.entries();
  expect(entries).toHaveLength(6);
  expect(entries.slice(0, 2)).toEqual([
    {
      time: '2027-01-15T08:00:00.000Z',
      who: { client: 'app' },
      how: 'token endpoint',
      kind: 'client-token.issued',
      client: 'app',
      type: 'client_credentials',
    },
    {
      time: '2027-01-15T08:01:00.000Z',
      who: 'server',
      how: 'chore',
      kind: 'client-token.issued-more',
      client: 'app',
      type: 'client_credentials',
      count: 49,
      before: '2027-01-15T08:01:00.000Z',
    },
  ]);
});

test('each client and grant type is counted separately, and a single token needs no count', async () => {
  await using log = await recorded();
  await log.issue('app');
  await log.issue('app', 'gnap');
  await log.issue('other');
  await log.recorder.tellOwnTokens(Infinity);
  const kinds = (await log.entries()).map(({ kind }) => kind);
  expect(kinds).toEqual(Array(3).fill('client-token.issued'));
});

test('while the first event of a minute cannot be written, no token is issued', async () => {
  await using log = await recorded();
  log.fail(true);
  const refused = await Promise.allSettled([log.issue('app'), log.issue('app'), log.issue('app')]);
  expect(refused.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  log.fail(false);
  await log.issue('app');
  expect(await log.entries()).toHaveLength(1);
});

test('with `required: false` tokens are issued, and a count waits until it can be written, once', async () => {
  await using log = await recorded(false);
  await log.issue('app');
  await log.issue('app');
  log.fail(true);
  log.clock.advance(60);
  await log.issue('app');
  await expect(log.recorder.tellOwnTokens(log.clock.now())).rejects.toThrow('full');
  log.fail(false);
  await log.recorder.tellOwnTokens(log.clock.now());
  await log.recorder.tellOwnTokens(log.clock.now());
  expect((await log.entries()).map(({ kind }) => kind)).toEqual([
    'client-token.issued',
    'client-token.issued-more',
  ]);
});

test('a clock that jumps back starts a new minute', async () => {
  await using log = await recorded();
  await log.issue('app');
  log.clock.advance(-3600);
  await log.issue('app');
  await log.issue('app');
  await log.recorder.tellOwnTokens(Infinity);
  expect((await log.entries()).map(({ kind }) => kind)).toEqual([
    'client-token.issued',
    'client-token.issued',
    'client-token.issued-more',
  ]);
});
