import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import {
  FAR,
  publicKeysIn,
  someApiKey,
  someOutboxMessage,
  somePublicKey,
} from '#shared/stores/contract/samples.ts';
import type { Connection } from '../connection/connection.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { redisApiKeys } from '../credentials/api-keys.ts';
import { LAYOUTS, type Layout } from '../layout.ts';
import { redisPublicKeys } from '../credentials/public-keys.ts';
import { redisOutbox } from '../mail/outbox.ts';
import { migrate } from '../migrations/migrate.ts';
import { moveToManySlots } from '../to-many-slots.ts';
import { startedBefore } from '../under-test.ts';

const IDS = ['a', 'B', '', 'é', 'a b', '}', '{x', '\u{1F600}'];
const KEYS = IDS.map((id, n) => ({
  ...someApiKey(id),
  application: `App ${n % 3}`,
  created_at: 100 - n,
  used_at: n,
}));
const OWNER = { kind: 'person', id: 'a person' } as const;
const PUBLIC_KEYS = ['a', 'B', 'é', '}', '{x'].map((id, n) =>
  Object.assign(somePublicKey(id), {
    owner: n === 0 ? { kind: 'application' as const, id: 'App' } : OWNER,
    created_at: n,
    signed_out_at: n,
  }),
);
const { created_at: NOW } = someOutboxMessage('');
const MESSAGES = IDS.map((id, n) => ({ ...someOutboxMessage(id), created_at: NOW + n }));

describe('API keys, public keys and waiting mail move to many slots', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const partsOf = ({ peopleSlots }: Layout) => ({
    apiKeys: redisApiKeys(place.undisturbed, peopleSlots),
    publicKeys: redisPublicKeys(place.undisturbed, peopleSlots, systemRandom),
    outbox: redisOutbox(place.undisturbed, peopleSlots, 'test'),
  });
  const former = () => partsOf(LAYOUTS.many('test'));
  const now = () => partsOf(LAYOUTS.all('test'));
  const move = (redis: Connection) =>
    moveToManySlots(redis, 'test', { random: systemRandom, sure: async () => {}, tell() {} });

  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await startedBefore(place.redis);
    await migrate(place.undisturbed, 'test');
    const { apiKeys, publicKeys, outbox } = former();
    for (const key of KEYS) expect(await apiKeys.add(key)).toBe(true);
    for (const key of PUBLIC_KEYS) expect(await publicKeys.add(key, 9)).toBe('added');
    for (const message of MESSAGES) await outbox.add(message);
    await outbox.take(NOW, NOW + 9, 1);
    await outbox.postpone('B', NOW + 5);
  });

  async function expectAllMoved(): Promise<void> {
    expect(await place.redis.cli('KEYS', '{test}:api-keys*')).toBe('');
    expect(await place.redis.cli('KEYS', '{test}:outbox*')).toBe('');
    expect(await place.redis.cli('KEYS', '{test}:public-keys*')).toBe('');
    const { apiKeys, publicKeys, outbox } = now();
    for (const key of PUBLIC_KEYS) expect(await publicKeys.get(key.id)).toEqual(key);
    expect(await publicKeys.of(OWNER)).toEqual(PUBLIC_KEYS.slice(1));
    expect(await publicKeys.pageOfApplications({ limit: 9 })).toEqual(PUBLIC_KEYS.slice(0, 1));
    expect(await publicKeys.add({ ...somePublicKey('next'), owner: OWNER }, 4)).toBe('full');
    const listed = await apiKeys.page({ limit: 99 });
    const places = (keys: typeof listed) =>
      keys.map(({ application, created_at }) => `${application} ${created_at + 1000}`);
    expect(places(listed)).toEqual(places(KEYS).toSorted());
    for (const key of KEYS) expect(await apiKeys.get(key.id)).toEqual(key);
    expect(await outbox.add(someOutboxMessage('a'))).toBe(false);
    const taken = await outbox.take(NOW + 8, FAR, 99);
    expect(taken.map(({ id }) => id)).toEqual([...IDS.slice(2, 5), 'B', ...IDS.slice(5)]);
    expect(await outbox.take(NOW + 9, FAR, 99)).toEqual([{ ...MESSAGES[0], attempt: 2 }]);
  }

  test.each([
    ['a key is written', /^SCRIPT \{test:.\}:api-keys/],
    ['the former keys are removed', /^DEL \{test\}:api-keys$/],
    ['the order of keys is removed', /^DEL \{test\}:api-keys:order/],
    ['the place of a public key is written', /^SCRIPT \{test:.\}:public-keys:order/],
    ['a public key is written', /^SCRIPT \{test:.\}:public-keys$/],
    ['the former public keys are removed', /^DEL \{test\}:public-keys$/],
    ['their order is removed', /^DEL \{test\}:public-keys:order/],
    ['a message is read', /^SCRIPT \{test\}:outbox/],
    ['a message is written', /^SCRIPT \{test:.\}:outbox/],
    ['the former messages are removed', /^DEL \{test\}:outbox$/],
    ['their times are removed', /^DEL \{test\}:outbox:due/],
  ])(
    'stopped before %s: the next run moves the rest, with all that belongs to it',
    async (_, step) => {
      const work = () => Promise.reject(new Error('stopped'));
      place.connection.interruptions.push({ before: step, work });
      await expect(move(place.connection)).rejects.toThrow('stopped');
      expect(place.connection.interruptions).toEqual([]);
      await move(place.undisturbed);
      await expectAllMoved();
    },
  );

  test.each([
    ['a key', /^SCRIPT \{test:.\}:api-keys/],
    ['the place of a public key', /^SCRIPT \{test:.\}:public-keys:order/],
    ['a public key', /^SCRIPT \{test:.\}:public-keys$/],
    ['a message', /^SCRIPT \{test:.\}:outbox/],
  ])(
    'a run that stands still before it writes %s brings back nothing that was removed after another run',
    async (_, step) => {
      place.connection.interruptions.push({
        before: step,
        async work() {
          await move(place.undisturbed);
          const { apiKeys, publicKeys, outbox } = now();
          for (const { id } of PUBLIC_KEYS) await publicKeys.remove(id);
          for (const id of IDS) {
            await apiKeys.remove(id);
            await outbox.remove(id);
          }
        },
      });
      await expect(move(place.connection)).rejects.toThrow('another run of the command');
      expect(await now().apiKeys.list()).toEqual([]);
      expect(await publicKeysIn(now())).toEqual([]);
      expect(await now().outbox.take(FAR, FAR, 99)).toEqual([]);
    },
  );
});
