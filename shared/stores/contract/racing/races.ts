import { VOPRF } from '#shared/private-token/token-types.ts';
import type { KeyTable } from '../../keys/keys.ts';
import {
  FAR,
  onceFor,
  fresh,
  removeTokenKeys,
  someClient,
  someKey,
  someOutboxMessage,
  someTokenKey,
} from '../samples.ts';
import { BURST, type Race, type Races } from './race.ts';
import { RACES_OF_PEOPLE } from './races-of-people.ts';
import { RACES_OF_TREES } from './races-of-trees.ts';

/** The race for the first key, by several processes that start at once. */
const firstKey = (table: KeyTable): Race => ({
  prepare: async (stores) => {
    for (const { kid } of await stores[table].list()) await stores[table].remove(kid);
    return fresh();
  },
  attempt: (stores) => stores[table].add(someKey(fresh(), 'ES256'), 'ES256'),
  winners: 1,
});

export const RACES = {
  unique: {
    prepare: async () => fresh(),
    attempt: (stores, key) => stores.replay.unique('race', key, 60),
    winners: 1,
  },
  'spend a proof': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.proofs.spend('dpop', key, onceFor(60))) === 'first',
    winners: 1,
  },
  'spend a token': {
    prepare: async () => fresh(),
    attempt: (stores, token) => stores.spentTokens.spend(Buffer.from(token), FAR),
    winners: 1,
  },
  'add the first token key': {
    prepare: async (stores) => {
      await removeTokenKeys(stores);
      return fresh();
    },
    attempt: async (stores) =>
      (await stores.tokenKeys.add(someTokenKey(VOPRF, 7), undefined)) === 'added',
    winners: 1,
  },
  'add a token key behind the newest': {
    prepare: async (stores) => {
      await removeTokenKeys(stores);
      const newest = someTokenKey(VOPRF, 7);
      await stores.tokenKeys.add(newest, undefined);
      return newest.id;
    },
    attempt: async (stores, newest) =>
      (await stores.tokenKeys.add(someTokenKey(VOPRF, 8), newest)) === 'added',
    winners: 1,
  },
  'use a count': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.useCounts.use('race', key, 7, onceFor(60))) === 'first',
    winners: 1,
  },
  consume: {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'AuthorizationCode', id, payload: {}, seconds: 60 });
      return id;
    },
    attempt: async (stores, id) =>
      (await stores.artefacts.consume('AuthorizationCode', id)) === 'first',
    winners: 1,
  },
  'use and succeed': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'RefreshToken', id, payload: {}, seconds: 60 });
      return id;
    },
    attempt: async (stores, id) => {
      const attempt = fresh();
      const successor = { kind: 'RefreshToken', id: attempt, payload: {}, seconds: 60 };
      const outcome = await stores.artefacts.consume('RefreshToken', id, { attempt, successor });
      const there = (await stores.artefacts.get('RefreshToken', attempt)) !== undefined;
      if (there !== (outcome === 'first')) throw new Error(`${outcome}, and a successor: ${there}`);
      return there;
    },
    winners: 1,
  },
  'step into the place of an attempt': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'RefreshToken', id, payload: {}, seconds: 60 });
      await stores.artefacts.consume('RefreshToken', id, { attempt: 'lost' });
      return id;
    },
    attempt: async (stores, id) => {
      const use = { attempt: fresh(), instead: 'lost' };
      return (await stores.artefacts.consume('RefreshToken', id, use)) === 'first';
    },
    winners: 1,
  },
  'decide about a device code': {
    prepare: async (stores) => {
      const id = fresh();
      const payload = { userCode: id };
      await stores.artefacts.put({ kind: 'DeviceCode', id, payload, seconds: 60 });
      return id;
    },
    attempt: (stores, id) =>
      stores.artefacts.replace(
        { kind: 'DeviceCode', id, payload: { userCode: id, grantId: fresh() }, seconds: 60 },
        { userCode: id },
      ),
    winners: 1,
  },
  take: {
    prepare: (stores) => stores.sessions.put('value', 60),
    attempt: async (stores, id) => (await stores.sessions.take(id)) === 'value',
    winners: 1,
  },
  spend: {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.limits.spend('sign-in-name', key, { burst: BURST, per: 3600 })).ok,
    winners: BURST,
  },
  'spend in blocks': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.limits.spend('api-key', key, { burst: BURST, per: 3600 })).ok,
    winners: BURST,
  },
  'add a client': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.clients.add(someClient(id)),
    winners: 1,
  },
  'replace a client as it was seen': {
    prepare: async (stores) => {
      const client = someClient(fresh());
      await stores.clients.add(client);
      return client.client_id;
    },
    attempt: (stores, id) =>
      stores.clients.replace({ ...someClient(id), secret_hash: fresh() }, someClient(id)),
    winners: 1,
  },
  'take a message to be sent': {
    prepare: async ({ outbox }) => {
      const id = fresh();
      await outbox.add(someOutboxMessage(id));
      return id;
    },
    attempt: async ({ outbox }, id) => {
      const { created_at } = someOutboxMessage(id);
      const taken = await outbox.take(created_at, created_at + 60_000, 1000);
      return taken.some((message) => message.id === id);
    },
    winners: 1,
  },
  'take a logout to be sent': {
    prepare: async ({ artefacts, revocations }) => {
      const grantId = fresh();
      const payload = { grantId, accountId: grantId, clientId: grantId, uid: grantId };
      await artefacts.put({ kind: 'Access', id: grantId, payload });
      await revocations.revoke('grant', grantId, FAR);
      return grantId;
    },
    attempt: async ({ logouts }, clientId) =>
      (await logouts.take(clientId, FAR, FAR + 60_000, 1)).length > 0,
    winners: 1,
  },
  'add the first key of an alg': firstKey('keys'),
  'add the first key of the gateway': firstKey('gatewayKeys'),
  ...RACES_OF_PEOPLE,
  ...RACES_OF_TREES,
} satisfies Races;

export type RaceName = keyof typeof RACES;

/** Namespaces and keys that are all different, however they are joined. */
export const shifted = (tail: string): readonly (readonly [namespace: string, key: string])[] => [
  ['a', `b:${tail}`],
  ['a:b', tail],
  ['a', `b\u0000${tail}`],
  ['a\u0000b', tail],
  ['a","b', tail],
  ['ab', tail],
  ['a', `b${tail}`],
];
