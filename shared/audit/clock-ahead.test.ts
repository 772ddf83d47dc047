import { expect, jest, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { StoreUnderTest } from '#shared/stores/contract/store-under-test.ts';
import { sharedUnderTest } from '#shared/stores/postgres/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { closeOpen } from './close.ts';
import { textOf } from './entry.ts';
import { type AuditFilter, listEvents } from './list.ts';
import { macKey } from './mac.ts';
import { endOld } from './retention.ts';
import { verifyLog } from './verify.ts';

const DAY = 86_400_000;
const YEAR = 365 * DAY;
const KEEP = 400;
const BEGIN = 1_800_000_000_000;

async function onNew(start: () => Promise<StoreUnderTest>) {
  const store = await start();
  const stores = await store.open();
  const end = async () => {
    await stores[Symbol.asyncDispose]();
    await store.end();
  };
  return { stores, [Symbol.asyncDispose]: end };
}

const key = macKey(Buffer.alloc(32, 7));

function logOf({ audit }: Stores) {
  const all = async (filter: AuditFilter, limit = 100, newestFirst = false) => {
    const names: string[] = [];
    let after: number | undefined;
    do {
      const page = await listEvents(audit, filter, { after, limit, newestFirst });
      for (const event of page.events) names.push(String(Reflect.get(event, 'person')));
      after = page.next;
    } while (after !== undefined);
    return names;
  };
  return {
    all,
    /** Writes an event about each person, by a clock that shows `at`, and makes one link of the events. */
    async write(at: number, ...people: readonly string[]) {
      const by = { who: 'operator', how: 'command line' } as const;
      const texts = people.map((person) => textOf({ kind: 'person.disabled', person }, by, at));
      await audit.append(...texts);
      await closeOpen({ audit, key, clock: new ManualClock(at) });
    },
    /** Returns the people whose events are left after a retention by a clock that shows `at`. */
    async leftAt(at: number) {
      await endOld({ audit, key, clock: new ManualClock(at) }, KEEP);
      expect(await verifyLog(audit, key)).toMatchObject({ ok: true });
      return (await all({})).filter((name) => name !== 'undefined');
    },
  };
}

const STORES = [
  ['SQLite', () => onNew(sqliteUnderTest)],
  ['PostgreSQL with Redis', () => onNew(sharedUnderTest)],
] as const;

test.each(STORES)(
  'on %s, events of clocks that are ahead hide no other events',
  async (_, open) => {
    await using opened = await open();
    const { all, write } = logOf(opened.stores);
    await write(BEGIN, 'before');
    await write(BEGIN + 10 * YEAR, 'ahead');
    await write(BEGIN + 1, 'first');
    await write(BEGIN + 20 * YEAR, 'further');
    await write(BEGIN + 2, 'second', 'third');
    const until = BEGIN + 3;
    for (const limit of [1, 2, 100]) {
      expect(await all({ until }, limit)).toEqual(['before', 'first', 'second', 'third']);
      const newest = await all({ until, since: BEGIN + 1 }, limit, true);
      expect(newest).toEqual(['third', 'second', 'first']);
      expect(await all({ until: BEGIN + 2 }, limit)).toEqual(['before', 'first']);
      expect(await all({ until: BEGIN + 11 * YEAR, since: BEGIN + YEAR }, limit)).toEqual([
        'ahead',
      ]);
    }
  },
);

test.each(STORES)('on %s, a list up to an early time reads no later events', async (_, open) => {
  await using opened = await open();
  const { all, write } = logOf(opened.stores);
  await write(BEGIN, 'old');
  for (let n = 0; n < 12; n += 1) {
    await write(BEGIN + DAY, ...Array.from({ length: 1000 }, () => 'recent'));
  }
  const rows = jest.spyOn(opened.stores.audit, 'rows');
  const filter = { until: BEGIN + 1 };
  for (const newestFirst of [true, false]) {
    expect(await all(filter, 5, newestFirst)).toEqual(['old']);
    expect(await all({ ...filter, person: 'recent' }, 5, newestFirst)).toEqual([]);
  }
  const read = await Promise.all(rows.mock.results.map(({ value }) => value));
  // The link that is a minute later has the first thousand recent rows.
  expect(read.flat().length).toBeLessThan(2 * 2 * 1010);
  rows.mockRestore();
  // A row of a clock that was behind comes after all recent rows.
  await write(BEGIN - 1, 'late');
  for (const newestFirst of [true, false]) {
    const names = newestFirst ? ['late', 'old'] : ['old', 'late'];
    for (const limit of [1, 2, 5]) expect(await all(filter, limit, newestFirst)).toEqual(names);
    expect(await all({ ...filter, person: 'late' }, 1, newestFirst)).toEqual(['late']);
    expect(await all({ since: BEGIN, until: BEGIN + 1 }, 1, newestFirst)).toEqual(['old']);
  }
});

test.each(STORES)('on %s, a page reads a bounded number of rows', async (_, open) => {
  await using opened = await open();
  const { write } = logOf(opened.stores);
  await write(BEGIN, 'old');
  for (let n = 0; n < 12; n += 1) {
    await write(BEGIN + DAY, ...Array.from({ length: 1000 }, () => 'recent'));
  }
  const filter = { person: 'recent', client: 'none' } as const;
  const first = await listEvents(opened.stores.audit, filter, { limit: 5, newestFirst: true });
  expect(first).toEqual({ events: [], next: 1997 });
  const page = { limit: 5, newestFirst: true, after: first.next };
  expect(await listEvents(opened.stores.audit, filter, page)).toEqual({ events: [] });
});

test.each(STORES)(
  'on %s, an event dated ten years ahead does not keep old days in the log',
  async (_, open) => {
    await using opened = await open();
    const { write, leftAt } = logOf(opened.stores);
    await write(BEGIN, 'before');
    await write(BEGIN + 10 * YEAR, 'ahead');
    await write(BEGIN + DAY, 'after');
    await write(BEGIN + 500 * DAY, 'late');
    const now = BEGIN + 501 * DAY;
    await write(now, 'now');
    expect(await leftAt(now)).toEqual(['late', 'now']);
  },
);

test.each(STORES)(
  'on %s, many events dated ahead are removed with the events after them, by few reads',
  async (_, open) => {
    await using opened = await open();
    const { write, leftAt } = logOf(opened.stores);
    for (let n = 0; n < 60; n += 1) await write(BEGIN + 10 * YEAR, 'ahead');
    for (let n = 0; n < 60; n += 1) await write(BEGIN, 'after');
    await write(BEGIN + 410 * DAY, 'late');
    const links = jest.spyOn(opened.stores.audit, 'links');
    expect(await leftAt(BEGIN + 300 * DAY)).toHaveLength(121);
    // The test's own verification reads all links by two calls.
    expect(links.mock.calls.length).toBeLessThan(20);
    links.mockRestore();
    const now = BEGIN + 411 * DAY;
    await write(now, 'now');
    expect(await leftAt(now)).toEqual(['late', 'now']);
  },
);

test.each(STORES)('on %s, a clock that jumped ahead removes no recent event', async (_, open) => {
  await using opened = await open();
  const { write, leftAt } = logOf(opened.stores);
  await write(BEGIN - 300 * DAY, 'kept');
  await write(BEGIN - DAY, 'yesterday');
  await write(BEGIN, 'today');
  // The clock jumps by less than the retention time, and by more; without and with an event dated by it.
  expect(await leftAt(BEGIN + 200 * DAY)).toEqual(['kept', 'yesterday', 'today']);
  expect(await leftAt(BEGIN + 10 * YEAR)).toEqual(['kept', 'yesterday', 'today']);
  await write(BEGIN + 10 * YEAR, 'ahead');
  expect(await leftAt(BEGIN + 10 * YEAR + 1)).toEqual(['kept', 'yesterday', 'today', 'ahead']);
  // After it was corrected, the clock removes events that are too old.
  await write(BEGIN + 150 * DAY, 'later');
  await write(BEGIN + 151 * DAY, 'latest');
  expect(await leftAt(BEGIN + 151 * DAY)).toEqual([
    'yesterday',
    'today',
    'ahead',
    'later',
    'latest',
  ]);
});

test.each(STORES)(
  'on %s, a clock that jumped far ahead removes only events that were too old',
  async (_, open) => {
    await using opened = await open();
    const { write, leftAt } = logOf(opened.stores);
    await write(BEGIN - 500 * DAY, 'old');
    await write(BEGIN - DAY, 'yesterday');
    await write(BEGIN + 10 * YEAR, 'ahead');
    expect(await leftAt(BEGIN + 10 * YEAR)).toEqual(['yesterday', 'ahead']);
    // The retention has written an event dated by that clock.
    expect(await leftAt(BEGIN + 10 * YEAR + 60_000)).toEqual(['yesterday', 'ahead']);
  },
);

test.each(STORES)('on %s, a clock that is behind removes nothing', async (_, open) => {
  await using opened = await open();
  const { write, leftAt } = logOf(opened.stores);
  await write(BEGIN - 399 * DAY, 'old');
  await write(BEGIN - DAY, 'yesterday');
  await write(BEGIN, 'today');
  expect(await leftAt(BEGIN - 10 * YEAR)).toEqual(['old', 'yesterday', 'today']);
  expect(await leftAt(BEGIN)).toEqual(['old', 'yesterday', 'today']);
});
