import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { RESOURCE_SERVER } from '#shared/config/resource-server-client.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { registerResourceServer } from './compose.ts';

const clock = new ManualClock();
let stores: Stores;
beforeEach(async () => {
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
});
afterEach(async () => stores[Symbol.asyncDispose]());

const register = (privateTokens?: object, master = 1) =>
  registerResourceServer({
    config: configSchema.parse({ privateTokens }),
    stores,
    master: Buffer.alloc(32, master),
    clock,
  });
const found = () => stores.clients.get(RESOURCE_SERVER);

test('the resource server may have tokens verified, and may do nothing else', async () => {
  await register({});
  expect(await found()).toMatchObject({
    grant_types: ['client_credentials'],
    scope: 'private-token:verify',
    resources: ['https://localhost:3444/private-token/verify'],
  });
});

test('without a token issuer there is no client for the resource server', async () => {
  await register();
  expect(await found()).toBeUndefined();
});

test('a second start with the same settings changes nothing', async () => {
  await register({});
  const first = await found();
  clock.advance(1000);
  await register({});
  expect(await found()).toEqual(first);
});

test('the client changes with the issuer and with the master secret', async () => {
  await register({});
  const first = await found();
  await register({ issuer: 'https://tokens.example' });
  expect(await found()).toMatchObject({
    resources: ['https://tokens.example/private-token/verify'],
    secret_hash: first?.secret_hash,
  });
  await register({}, 2);
  expect((await found())?.secret_hash).not.toBe(first?.secret_hash);
});

test('a client that an operator removed stays removed', async () => {
  await register({});
  await stores.clients.remove(RESOURCE_SERVER);
  await stores.revocations.raise('client', RESOURCE_SERVER, clock.now() + 1000);
  await register({});
  expect(await found()).toBeUndefined();
});
