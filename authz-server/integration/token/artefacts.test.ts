import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AdapterFactory, AdapterPayload } from 'oidc-provider';
import { findAccess, recordAccess } from '#shared/people/access/grants.ts';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { engineAdapter } from '../../engine/adapter.ts';
import { testAuthz } from '../authz.fixture.ts';
import type { TestAuthz } from '../authz.fixture.ts';

let authz: TestAuthz;
let access: {
  stores: Stores;
  clock: typeof systemClock;
  random: typeof systemRandom;
  longestLife: number;
};
let adapter: AdapterFactory;
beforeAll(async () => {
  authz = await testAuthz();
  const { stores, config, master } = authz;
  access = { stores, clock: systemClock, random: systemRandom, longestLife: 605 };
  adapter = engineAdapter({
    ...access,
    config,
    master,
    directory,
    demoClients: true,
    documents: { current: (id) => stores.clients.get(id), stored: stores.clients },
  });
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

const directory = {
  find: (id: string) => Promise.resolve({ id, name: id }),
  authenticate: () => Promise.resolve(undefined),
};

async function newGrant(grantId: string): Promise<void> {
  const given = { accountId: 'alice', clientId: 'web', generation: 0, since: 0 };
  await recordAccess(access, { ...given, grantId, clientGeneration: 0 }, 600);
}
const stands = async (grantId: string) => (await findAccess(access, grantId)) !== undefined;

describe('two uses of a code at once, neither of which saw the other', () => {
  test.each([
    ['AuthorizationCode', 'invalid_grant', false],
    ['RefreshToken', 'invalid_grant', false],
    ['DeviceCode', 'invalid_grant', true],
    ['PushedAuthorizationRequest', 'invalid_request_uri', true],
  ])('%s: the second gets %s; whether the grant stands: %p', async (kind, error, standing) => {
    const grantId = `grant of ${kind}`;
    await newGrant(grantId);
    const model = adapter(kind);
    await model.upsert('one', { grantId }, 600);
    await model.consume('one');
    expect(await stands(grantId)).toBe(true);
    await expect(model.consume('one')).rejects.toMatchObject({ error });
    expect(await stands(grantId)).toBe(standing);
  });

  test('an unknown code or token cannot be used', async () => {
    for (const kind of ['AuthorizationCode', 'RefreshToken', 'DeviceCode']) {
      await expect(adapter(kind).consume('nothing')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    }
  });
});

describe('the end of a grant', () => {
  test.each<[string, (grantId: string) => Promise<unknown>]>([
    ['Grant.destroy', (grantId) => adapter('Grant').destroy(grantId)],
    ['AccessToken.revokeByGrantId', (grantId) => adapter('AccessToken').revokeByGrantId(grantId)],
  ])('%s is that of everything that came of it', async (name, end) => {
    const [grantId, id] = [`ended by ${name}`, `token ${name}`];
    await newGrant(grantId);
    await adapter('RefreshToken').upsert(id, { grantId }, 600);
    await end(grantId);
    expect([await stands(grantId), await adapter('RefreshToken').find(id)]).toEqual([
      false,
      undefined,
    ]);
    await using feed = await authz.stores.revocations.feed();
    const claims = {
      jti: 'j',
      kid: 'k',
      sub: 'alice',
      client_id: 'web',
      client_gen: 0,
      sub_gen: 0,
    };
    const { epoch = '' } = feed.current();
    const view = await feed.latest();
    expect(view.revokedBy({ ...claims, epoch, grant_id: grantId })).toBe('grant');
  });
});

test('clients are read, never written', async () => {
  const write = adapter('Client').upsert('x', {}, 1);
  await expect(write).rejects.toThrow('not written by the engine');
});

const SINGLE_USE = new Set(['RefreshToken', 'DeviceCode']);

test('a store that does not answer is 503, never "no such thing"', async () => {
  const down = () => Promise.reject(new StoreUnavailable('down'));
  const artefacts = { ...authz.stores.artefacts, get: down, consume: down, put: down };
  const { config, master } = authz;
  const broken = engineAdapter({
    ...access,
    stores: { ...authz.stores, artefacts },
    config,
    master,
    directory,
    demoClients: true,
    documents: { current: (id) => authz.stores.clients.get(id), stored: authz.stores.clients },
  });
  const payload: AdapterPayload = {};
  for (const kind of ['Session', 'RefreshToken', 'DeviceCode', 'Grant', 'Interaction']) {
    const model = broken(kind);
    const consume = SINGLE_USE.has(kind) ? [model.consume('x')] : [];
    for (const asked of [model.find('x'), model.upsert('x', payload, 1), ...consume]) {
      await expect(asked).rejects.toMatchObject({
        statusCode: 503,
        error: 'temporarily_unavailable',
      });
    }
  }
});
