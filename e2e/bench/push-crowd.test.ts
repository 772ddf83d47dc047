import { expect, test } from '@jest/globals';
import { createVapid } from '#shared/auth/schemes/vapid/vapid.ts';
import { systemClock } from '#shared/base/clock.ts';
import type { PushSubscription } from '#shared/stores/push/push.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import { forged, newAuthorization, ORIGIN, subscribe } from './push-crowd.ts';

/** Returns the rows of subscriptions, in the order of their creation. */
async function rowsOf(count: number, senders: 'anybody' | 'vapid') {
  await using store = await sqliteUnderTest().then((one) => ({
    ...one,
    [Symbol.asyncDispose]: () => one.end(),
  }));
  await using stores = await store.open();
  const made = await subscribe(stores, count, senders);
  const rows: PushSubscription[] = [];
  for (const { id } of made) {
    const row = await stores.push.subscription(id);
    if (row) rows.push(row);
  }
  const grants = [...new Set(rows.map(({ maker }) => maker.grant_id))];
  const standing = await Promise.all(grants.map((one) => stores.artefacts.get('Access', one)));
  return { made, rows, standing };
}

const sizes = (names: readonly (string | undefined)[]) =>
  Array.from(Map.groupBy(names, String).values(), ({ length }) => length);

test('a person has 50 subscriptions per grant, and a key sends to 10', async () => {
  const { made, rows, standing } = await rowsOf(120, 'vapid');
  expect(sizes(rows.map(({ person }) => person))).toEqual([50, 50, 20]);
  expect(sizes(rows.map(({ key }) => key))).toEqual(Array.from({ length: 12 }, () => 10));
  expect(standing.map((one) => one?.['accountId'])).toEqual([
    ...new Set(rows.map(({ person }) => person)),
  ]);
  expect(made.map(({ push }) => push)).toEqual(rows.map(({ push }) => `/push/push/${push}`));
});

test('any sender may use a subscription without a key', async () => {
  const { rows } = await rowsOf(3, 'anybody');
  expect(rows.map(({ key }) => key)).toEqual([undefined, undefined, undefined]);
});

test('valid credentials of a sender are accepted, and forged credentials are refused', async () => {
  const { made, rows } = await rowsOf(1, 'vapid');
  const [{ sender } = {}] = made;
  const [{ key } = {}] = rows;
  if (sender === undefined) throw new Error('it is not restricted');
  const vapid = createVapid({ clock: systemClock });
  for (const authorization of [sender.authorization, newAuthorization(sender.key)]) {
    expect(vapid(authorization, ORIGIN, key)).toEqual({ key });
    expect(() => vapid(forged(authorization), ORIGIN, key)).toThrow('has not signed');
  }
  expect(newAuthorization(sender.key)).not.toBe(sender.authorization);
});
