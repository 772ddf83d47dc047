import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import type { Connection } from '#shared/stores/redis/connection/connection.ts';
import { interruptedRedis } from '#shared/stores/redis/connection/interrupted.fixture.ts';
import { moveToManySlots } from '#shared/stores/redis/to-many-slots.ts';
import { openPatiently, redisConfig, startedBefore } from '#shared/stores/redis/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { closeOpen } from './close.ts';
import { textOf } from './entry.ts';
import { listEvents } from './list.ts';
import { macKey } from './mac.ts';
import { endOld } from './retention.ts';
import { verifyLog } from './verify.ts';

const key = macKey(Buffer.alloc(32, 7));
const DAY = 86_400;
const BEGIN = 1_800_000_000_000;
const HOUR = 5;
const PEOPLE = ['a', 'b', 'c d', '}', '{x', 'é'];
/** Events of a link of the second day, so that the two are in two slots. */
const EVENTS = 550;

describe('the audit log moves to many slots', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  let before: Awaited<ReturnType<typeof contentOf>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const clock = new ManualClock(BEGIN);
  const open = () => openPatiently(redisConfig({ urls: [place.redis.url] }), clock);
  const move = (redis: Connection = place.undisturbed) =>
    moveToManySlots(redis, 'test', { random: systemRandom, sure: async () => {}, tell() {} });
  const closing = ({ audit }: Stores) => ({ audit, key, clock });
  const texts = (count: number) => {
    const event = (n: number) =>
      ({ kind: 'person.disabled', person: PEOPLE[n % PEOPLE.length] ?? '' }) as const;
    const by = { who: 'operator', how: 'command line' } as const;
    return Array.from({ length: count }, (_, n) => textOf(event(n), by, clock.now()));
  };

  /** All that readers find, without what is open. */
  async function contentOf({ audit }: Stores) {
    const lists = [{}, { kind: 'audit.ended' } as const, ...PEOPLE.map((person) => ({ person }))];
    return {
      verified: await verifyLog(audit, key),
      events: await Promise.all(lists.map((filter) => listEvents(audit, filter, { limit: 9999 }))),
      at: await audit.linkAt(BEGIN + DAY * 1000),
      refusals: (await audit.refusals(HOUR + 1)).toSorted((a, b) => (a.person < b.person ? -1 : 1)),
    };
  }

  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await startedBefore(place.redis);
    await using former = await open();
    clock.advance(5 * DAY);
    await former.audit.append(...texts(20));
    await closeOpen(closing(former));
    clock.advance(5 * DAY);
    for (let n = 0; n < 2; n += 1) {
      await former.audit.append(...texts(EVENTS));
      await closeOpen(closing(former));
    }
    clock.advance(DAY * 1.5);
    await endOld(closing(former), 3);
    for (const person of PEOPLE) await former.audit.appendRefusal({ hour: HOUR, person }, 0, '');
    before = await contentOf(former);
    expect(before.verified).toMatchObject({ ok: true });
    expect(before.events[1]?.events).toHaveLength(1);
    expect(before.refusals).toHaveLength(PEOPLE.length);
    await former.recorded('clients', ...texts(1)).add(someClient('with an open entry'));
    await former.audit.append(...texts(2));
  });

  async function expectAllMoved(): Promise<void> {
    const left = await place.redis.cli('KEYS', '{test:audit}:*');
    expect(left.split('\n').toSorted()).toEqual(['{test:audit}:head', '{test:audit}:links']);
    await using now = await open();
    expect(await contentOf(now)).toEqual(before);
    await closeOpen(closing(now));
    const { events } = await listEvents(now.audit, {}, { limit: 9999 });
    expect(events).toHaveLength((before.events[0]?.events.length ?? 0) + 3);
    expect(await verifyLog(now.audit, key)).toMatchObject({ ok: true });
    // The ended and the moved rows leave nothing in any slot once they end, too.
    clock.advance(5 * DAY);
    await now.audit.append(...texts(1));
    await closeOpen(closing(now));
    clock.advance(DAY * 1.5);
    await endOld(closing(now), 3);
    expect(await verifyLog(now.audit, key)).toMatchObject({ ok: true, rows: 2 });
    const indexes = await place.redis.cli('KEYS', '{test:*}:audit:by:*person*');
    expect(indexes.split('\n')).toHaveLength(3);
  }

  test('with all that finds its events', async () => {
    await move();
    await expectAllMoved();
  });

  test.each([
    ['rows are written', /^SCRIPT \{test:.\}:audit:attempt/],
    ['their former places are emptied', /^XTRIM \{test:audit\}:rows/],
    ['the former rows are removed', /^DEL \{test:audit\}:rows/],
    ['an index is read', /^ZRANGE \{test:audit\}:by:/],
    ['an index is written', /^SCRIPT \{test:.\}:audit:by:/],
    ['a former index is emptied', /^SCRIPT \{test:audit\}:by:/],
    ['refusals are written', /^SCRIPT \{test:.\}:audit:refused/],
    ['the former refusals are removed', /^DEL \{test:audit\}:refused/],
    ['the times of links are removed', /^DEL \{test:audit\}:times/],
  ])('stopped before %s, twice: the next run moves the rest', async (_, step) => {
    const work = () => Promise.reject(new Error('stopped'));
    const { interruptions } = place.connection;
    interruptions.push({ before: step, work });
    await expect(move(place.connection)).rejects.toThrow('stopped');
    interruptions.push({ before: step, work: async () => {} }, { before: step, work });
    await move(place.connection).catch((error: unknown) =>
      expect(String(error)).toContain('stopped'),
    );
    interruptions.length = 0;
    await move();
    await expectAllMoved();
  });

  test.each([
    ['rows', /^SCRIPT \{test:.\}:audit:attempt/],
    ['an index', /^SCRIPT \{test:.\}:audit:by:/],
    ['refusals', /^SCRIPT \{test:.\}:audit:refused/],
  ])(
    'a run that stands still before it writes %s brings back nothing that was ended after another run',
    async (_, step) => {
      const inSlots = async () => {
        const found = await place.redis.cli('KEYS', '{test:?}:audit:*');
        return found.split('\n').filter(Boolean);
      };
      place.connection.interruptions.push({
        before: step,
        async work() {
          await move();
          await place.redis.cli('DEL', ...(await inSlots()));
        },
      });
      await expect(move(place.connection)).rejects.toThrow('another run of the command');
      expect(place.connection.interruptions).toEqual([]);
      expect(await inSlots()).toEqual([]);
    },
  );
});
