import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { recordCounts } from './close.ts';
import { type By, entryOf, keysOf, textOf } from './entry.ts';
import { createRecorder, MOST_REFUSALS } from './recorder.ts';
import { auditSettings } from './settings.ts';

const clock = new ManualClock();
const by: By = { who: { person: 'admin' }, how: 'page', from: '192.0.2.1' };

const opened = async () => openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
const settings = (changes: object) => ({ audit: auditSettings.parse(changes) });

test('an address is stored only if the operator configures it', async () => {
  await using stores = await opened();
  for (const addresses of [false, true]) {
    const config = settings({ addresses });
    await createRecorder({ stores, clock, log: silentLog, config }, by).record({
      kind: 'person.enabled',
      person: 'alice',
    });
  }
  const entries = (await stores.audit.open()).texts.map(entryOf);
  expect(entries.map(({ from }) => from)).toEqual([undefined, '192.0.2.1']);
  expect(entries[0]).toEqual({
    time: new Date(clock.now()).toISOString(),
    who: { person: 'admin' },
    how: 'page',
    kind: 'person.enabled',
    person: 'alice',
  });
});

test('if an event cannot be written, the action is refused, unless events are not required', async () => {
  await using stores = await opened();
  const failing: Stores = {
    ...stores,
    audit: { ...stores.audit, append: () => Promise.reject(new Error('full')) },
  };
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => logged.push(line) };
  const record = (required: boolean) =>
    createRecorder({ stores: failing, clock, log, config: settings({ required }) }, by).record({
      kind: 'person.enabled',
      person: 'alice',
    });
  await expect(record(true)).rejects.toThrow('full');
  await record(false);
  expect(logged).toEqual([['audit.failing', { reason: 'Error: full' }]]);
});

test('refused sign-ins of a person beyond ten in an hour are only counted', async () => {
  await using stores = await opened();
  const recorder = createRecorder({ stores, clock, log: silentLog, config: settings({}) }, by);
  const refuse = () => recorder.refused('alice', 'password');
  for (let n = 0; n < 25; n += 1) await refuse();
  expect((await stores.audit.open()).texts).toHaveLength(MOST_REFUSALS);
  clock.advance(3600);
  await refuse();
  expect((await stores.audit.open()).texts).toHaveLength(MOST_REFUSALS + 1);
});

test('a change and its event are written together', async () => {
  await using stores = await opened();
  const recorder = createRecorder({ stores, clock, log: silentLog, config: settings({}) }, by);
  const add = () =>
    recorder.changing('clients', { kind: 'client.added', client: 'app' }).add(someClient('app'));
  expect([await add(), await add()]).toEqual([true, false]);
  expect((await stores.audit.open()).texts).toHaveLength(1);
});

test('an entry is found by its kind, by all its actors and by all its subjects', () => {
  const keys = (event: Parameters<typeof textOf>[0], who: By['who']) =>
    keysOf(entryOf(textOf(event, { who, how: 'page' }, 0)));
  expect(keys({ kind: 'person.disabled', person: 'alice' }, { person: 'admin' })).toEqual([
    'kind person.disabled',
    'person alice',
    'person admin',
    'kind person.disabled person alice',
    'kind person.disabled person admin',
  ]);
  expect(
    keys({ kind: 'consent.given', person: 'alice', client: 'app' }, { person: 'alice' }),
  ).toEqual([
    'kind consent.given',
    'person alice',
    'client app',
    'kind consent.given person alice',
    'kind consent.given client app',
  ]);
});

test('texts of clients are bounded, and a line has no control character', () => {
  const person = `https://a.example/${'x'.repeat(9000)}`;
  const client = 'a\u0000\n\u001b[2J\u009b\u202e\u2028"}';
  const text = textOf(
    { kind: 'token.issued', client, type: 'refresh_token', person },
    { who: { client }, how: 'token endpoint' },
    0,
  );
  expect(text.length).toBeLessThan(1000);
  expect(text).toMatch(/^[\x20-\x7e…]+$/);
  expect(entryOf(text)).toMatchObject({ client });
});

test('a sign-in with an unknown name is counted, and leaves no event', async () => {
  await using stores = await opened();
  const recorder = createRecorder({ stores, clock, log: silentLog, config: settings({}) }, by);
  for (let n = 0; n < 3; n += 1) await recorder.refused(undefined, 'password');
  expect((await stores.audit.open()).texts).toEqual([]);
  clock.advance(3600);
  const [count] = await stores.audit.refusals(Math.floor(clock.now() / 3_600_000));
  expect(count?.count).toBe(3);
  await recordCounts({ audit: stores.audit, key: Buffer.alloc(32), clock }, MOST_REFUSALS);
  expect((await stores.audit.open()).texts).toEqual([]);
});
