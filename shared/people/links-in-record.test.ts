import { expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom as random } from '#shared/base/random.ts';
import { openPostgres } from '#shared/stores/postgres/open.ts';
import { endAllIssued } from '#shared/stores/postgres/recovered.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { createRecoveryLinks, type Recovery } from './recovery-links.ts';

const OF_ALICE: Recovery = { person: 'a1', purpose: 'recovery' };

test('a link survives a Redis that loses its data, ends with a restore, and is used once', async () => {
  await using shared = await startSharedStore();
  const open = () =>
    openPostgres(shared.store, { clock: systemClock, random, log: silentLog, skew: 5 });
  let [used, left] = ['', ''];
  {
    await using stores = await open();
    const made = createRecoveryLinks({ stores, random });
    used = await made.make(OF_ALICE);
    left = await made.make({ ...OF_ALICE, byMail: true });
  }
  await shared.redis.cli('FLUSHALL');
  {
    await using stores = await open();
    const made = createRecoveryLinks({ stores, random });
    const got = await Promise.all(Array.from({ length: 10 }, () => made.redeem(used)));
    expect(got.filter((one) => one !== undefined)).toEqual([OF_ALICE]);
    expect(await made.find(left)).toEqual({ ...OF_ALICE, byMail: true });
  }
  await endAllIssued(shared.store);
  await using stores = await open();
  expect(await createRecoveryLinks({ stores, random }).find(left)).toBeUndefined();
});
