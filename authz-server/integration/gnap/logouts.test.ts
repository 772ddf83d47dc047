import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { type GnapFlow, openGnap, READ, REDIRECT, type Told } from './gnap.fixture.ts';

let gnap: GnapFlow;
let key: TestKey;
let client: string;
beforeAll(async () => {
  gnap = await openGnap();
  key = testKey();
  const backchannel_logout_uri = 'https://client.example/logout';
  ({ client_id: client } = await gnap.register(key, { backchannel_logout_uri }));
});
afterAll(async () => gnap[Symbol.asyncDispose]());

/** Lets alice allow a request of the client; resolves to the answer with the token. */
async function given(): Promise<Told> {
  const asked = await gnap.ask({ ...READ, interact: REDIRECT }, key);
  const back = await gnap.allow(asked);
  const interact_ref = back.searchParams.get('interact_ref') ?? '';
  return gnap.proceed(asked, { interact_ref }, 'POST', key);
}

/** Counts the logouts that wait for the client, and removes them. */
async function waiting(): Promise<number> {
  const { logouts } = gnap.flow.authz.stores;
  const all = await logouts.take(client, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 99);
  for (const { id } of all) await logouts.remove(id);
  return all.length;
}

test('RFC 9635 section 5.4: a client that ends its grant is told that the session has ended', async () => {
  const told = await given();
  expect([told.status, await waiting()]).toEqual([200, 0]);
  const { status } = await gnap.proceed(told, undefined, 'DELETE', key);
  expect([status, await waiting()]).toEqual([204, 1]);
});
