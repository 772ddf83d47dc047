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
  const { stores } = authz;
  access = { stores, clock: systemClock, random: systemRandom, longestLife: 605 };
  adapter = adapterOn(stores);
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

const directory = {
  find: (id: string) => Promise.resolve({ id, name: id }),
  authenticate: () => Promise.resolve(undefined),
};

function adapterOn(stores: Stores): AdapterFactory {
  const { config, master } = authz;
  const { clients } = authz.stores;
  const documents = { current: (id: string) => clients.get(id), stored: clients };
  return engineAdapter({
    ...access,
    stores,
    config,
    master,
    directory,
    demoClients: true,
    documents,
  });
}

async function newGrant(grantId: string): Promise<void> {
  const given = { accountId: 'alice', clientId: 'web', generation: 0, since: 0 };
  await recordAccess(access, { ...given, grantId, clientGeneration: 0 }, 600);
}
const stands = async (grantId: string) => (await findAccess(access, grantId)) !== undefined;

describe('two concurrent uses of a code, neither of which saw the other', () => {
  test.each([
    ['AuthorizationCode', 'invalid_grant', false],
    ['RefreshToken', 'invalid_grant', false],
    ['DeviceCode', 'invalid_grant', true],
    ['PushedAuthorizationRequest', 'invalid_request_uri', true],
  ])(
    'for the kind %s the second use gets %s; whether the grant stays valid: %p',
    async (kind, error, standing) => {
      const grantId = `grant of ${kind}`;
      await newGrant(grantId);
      const model = adapter(kind);
      await model.upsert('one', { grantId }, 600);
      await model.consume('one');
      expect(await stands(grantId)).toBe(true);
      await expect(model.consume('one')).rejects.toMatchObject({ error });
      expect(await stands(grantId)).toBe(standing);
    },
  );

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
  ])('%s ends everything that the grant gave', async (name, end) => {
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

test('RFC 7009 section 2.2.1: a revocation that got 503 can be repeated, even if it was committed', async () => {
  const grantId = 'not heard at first';
  await newGrant(grantId);
  for (const kind of ['RefreshToken', 'AuthorizationCode', 'DeviceCode']) {
    await adapter(kind).upsert(`${kind} of it`, { grantId }, 600);
  }
  const { revocations } = authz.stores;
  const unheard: Stores['revocations'] = {
    ...revocations,
    async revoke(...what) {
      await revocations.revoke(...what);
      throw new StoreUnavailable('nobody was told');
    },
  };
  const failing = adapterOn({ ...authz.stores, revocations: unheard });
  // The engine does so: the token first, then all kinds at the same time.
  await expect(failing('RefreshToken').destroy('RefreshToken of it')).rejects.toMatchObject({
    statusCode: 503,
  });
  const kinds = ['AccessToken', 'RefreshToken', 'AuthorizationCode', 'DeviceCode'];
  const ends = kinds.map((kind) => failing(kind).revokeByGrantId(grantId));
  expect((await Promise.allSettled(ends)).map(({ status }) => status)).toContain('rejected');
  for (const kind of ['RefreshToken', 'AuthorizationCode', 'DeviceCode']) {
    expect(await adapter(kind).find(`${kind} of it`)).toMatchObject({ grantId });
  }
  await adapter('RefreshToken').destroy('RefreshToken of it');
  expect(await adapter('RefreshToken').find('RefreshToken of it')).toBeUndefined();
  expect(await stands(grantId)).toBe(false);
});

test('the engine reads clients, and never writes them', async () => {
  const write = adapter('Client').upsert('x', {}, 1);
  await expect(write).rejects.toThrow('not written by the engine');
});

const SINGLE_USE = new Set(['RefreshToken', 'DeviceCode']);

test('a store that does not answer causes 503, and never "not found"', async () => {
  const down = () => Promise.reject(new StoreUnavailable('down'));
  const artefacts = { ...authz.stores.artefacts, get: down, consume: down, put: down };
  const broken = adapterOn({ ...authz.stores, artefacts });
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
