import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import { signInClientId } from '#shared/config/sign-in-clients.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { registerSignInClients } from './compose.ts';

const space = (name: string, more: object = {}) => ({
  url: `https://${name}.example/`,
  realm: name,
  schemes: ['Bearer'],
  serves: 'verify',
  signIn: true,
  ...more,
});

test('the sign-in clients follow the configuration, and a client that an operator removed stays removed', async () => {
  const clock = new ManualClock();
  await using stores = await openSqlite({
    folder: await storeFolder(),
    clock,
    random: systemRandom,
  });
  const start = (...spaces: object[]) =>
    registerSignInClients({
      config: configSchema.parse({ spaces }),
      stores,
      master: Buffer.alloc(32, 7),
      clock,
    });
  const names = async () => (await stores.clients.list()).map((one) => one.client_name).toSorted();

  await stores.clients.add({
    client_id: 'app',
    client_name: 'an app',
    grant_types: [],
    token_endpoint_auth_method: 'none',
    scope: 'openid',
    created_at: 0,
  });
  await start(space('one'), space('two'), space('three', { signIn: undefined }));
  expect(await names()).toEqual(['an app', 'one', 'two']);

  const id = signInClientId(space('one'));
  const made = await stores.clients.get(id);
  clock.advance(10);
  await start(space('one', { realm: 'The one' }), space('two'));
  expect(await stores.clients.get(id)).toEqual({ ...made, client_name: 'The one' });

  await start(space('two'));
  expect(await names()).toEqual(['an app', 'two']);
  await start(space('one'), space('two'));
  expect(await names()).toEqual(['an app', 'one', 'two']);

  await stores.revocations.raise('client', id, clock.now() + 1000);
  await stores.clients.remove(id);
  await start(space('one'), space('two'));
  expect(await names()).toEqual(['an app', 'two']);
});
