import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Entry, entryOf } from '#shared/audit/entry.ts';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type GnapFlow, openGnap, READ, REDIRECT, type Told } from './gnap.fixture.ts';

let gnap: GnapFlow;
beforeEach(async () => {
  gnap = await openGnap({ audit: { addresses: true } });
});
afterEach(async () => gnap[Symbol.asyncDispose]());

const down = () => Promise.reject(new StoreUnavailable('full'));
const audit = () => gnap.flow.authz.stores.audit;
const tokens = async (): Promise<readonly Entry[]> =>
  (await audit().open()).texts.map(entryOf).filter(({ kind }) => kind.includes('token.issued'));

/** Rotates a token (RFC 9635 section 6.1). */
const rotate = ({ body }: Told, key = gnap.key) => {
  const { uri, access_token: token } = body.access_token.manage;
  return gnap.send(new URL(uri).pathname, { token: token.value }, key);
};

test('tokens in the name of a person are in the audit log, and so are their rotations', async () => {
  const told = await gnap.ask({ ...READ, interact: REDIRECT });
  const back = await gnap.allow(told);
  const given = await gnap.proceed(told, { interact_ref: back.searchParams.get('interact_ref') });
  expect(given.status).toBe(200);
  const person = gnap.flow.people.alice.id;
  const event = expect.objectContaining({
    kind: 'token.issued',
    how: 'gnap',
    from: '127.0.0.1',
    person,
    type: 'gnap',
  });
  expect(await tokens()).toEqual([event]);
  expect((await rotate(given)).status).toBe(200);
  expect(await tokens()).toEqual([event, event]);
});

test('tokens of a client in its own name are counted, and no token is issued without an event', async () => {
  const key = testKey();
  const { client_id: client } = await gnap.register(key);
  const failing = jest.spyOn(audit(), 'append').mockImplementation(down);
  const refused = await gnap.ask(READ, key);
  expect(refused.status).toBe(503);
  expect(refused.body.access_token).toBeUndefined();
  failing.mockRestore();
  gnap.flow.clock.advance(1);
  const told = await gnap.ask(READ, key);
  expect(told.status).toBe(200);
  expect((await rotate(told, key)).status).toBe(200);
  expect(await tokens()).toEqual([
    expect.objectContaining({
      kind: 'client-token.issued',
      who: { client },
      client,
      type: 'gnap',
      from: '127.0.0.1',
    }),
  ]);
});
