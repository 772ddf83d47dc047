import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Clock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { apiKeysContract } from '../contract/credentials/api-keys.ts';
import { publicKeysContract } from '../contract/credentials/public-keys.ts';
import { outboxContract } from '../contract/mail/outbox.ts';
import { pushContract } from '../contract/push/push.ts';
import { pushReceiptsContract } from '../contract/push/receipts.ts';
import type { Contract } from '../contract/store-under-test.ts';
import type { Connection } from './connection/connection.ts';
import { interruptedRedis } from './connection/interrupted.fixture.ts';
import { manySlots, oneSlot, type Slots } from './connection/slots.ts';
import { redisApiKeys } from './credentials/api-keys.ts';
import { redisPublicKeys } from './credentials/public-keys.ts';
import { redisOutbox } from './mail/outbox.ts';
import { redisPush } from './push/push.ts';
import { redisConfig, redisUnderTest } from './under-test.ts';

const PREFIX = 'slots';

/** The parts of a store that are in one slot or in many. The rest is in the layout of a new store. */
const partsIn = (slots: Slots, clock: Clock) => (redis: Connection) => ({
  apiKeys: redisApiKeys(redis, slots),
  publicKeys: redisPublicKeys(redis, slots, systemRandom),
  push: redisPush(redis, slots, clock, systemRandom),
  outbox: redisOutbox(redis, slots, PREFIX),
});

const PARTS = [
  apiKeysContract,
  publicKeysContract,
  outboxContract,
  pushContract,
  pushReceiptsContract,
];

describe.each([
  ['in one slot', oneSlot(PREFIX)],
  ['in many slots', manySlots(PREFIX)],
])('the parts of a store that may be in either, %s', (_, slots) => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  let contract: Contract;
  beforeAll(async () => {
    place = await interruptedRedis();
    const { redis, connection, undisturbed } = place;
    const store = redisUnderTest(redisConfig({ urls: [redis.url] }), [redis], redis);
    const [one, other] = [await store.open(), await store.open()];
    const parts = partsIn(slots, store.clock);
    contract = {
      store,
      one: Object.assign(one, parts(connection)),
      other: Object.assign(other, parts(undisturbed)),
    };
  });
  afterAll(async () => {
    await contract.one[Symbol.asyncDispose]();
    await contract.other[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  for (const part of PARTS) part(() => contract);
});
