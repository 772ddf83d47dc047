import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import type { House } from '#shared/operations/operation.ts';
import { recordConsent } from '#shared/people/access/consents.ts';
import { keepPerson } from '#shared/people/people.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { newData, TestShell } from '../cli.fixture.ts';
import { newShared } from './new-shared.fixture.ts';
import { openHouse } from '../stores/with-people.ts';
import { applyDeclared } from './apply-declared.ts';
import { interrupted, WAYS } from './interrupted-stores.fixture.ts';
import { readDeclared } from './read-declared.ts';

let shared: SharedStore;
beforeAll(async () => {
  shared = await startSharedStore();
});
afterAll(async () => shared[Symbol.asyncDispose]());

const clientOf = (id: string, more: object = {}) => ({
  client_id: id,
  client_name: 'App',
  grant_types: ['client_credentials'],
  scope: 'documents:read',
  secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  ...more,
});
const keyOf = (id: string, more: object = {}) => ({
  id,
  application: 'App',
  realm: 'api-key',
  scopes: [],
  secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  ...more,
});
const publicKeyOf = (name: string) => ({
  scheme: 'Concealed',
  owner: { kind: 'person', name },
  public_key: generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }),
  name: 'laptop',
});
const lasting = publicKeyOf('kept');

/** Things that stay, change and disappear. */
const EARLIER = {
  people: ['kept', 'changes', 'out', 'goes'].map((name) => ({ name, id: name })),
  clients: [clientOf('changes'), clientOf('goes')],
  api_keys: [keyOf('changes'), keyOf('goes')],
  public_keys: [lasting, publicKeyOf('kept')],
};
const LATER = {
  people: [
    { name: 'kept', id: 'kept' },
    {
      name: 'changes',
      id: 'changes',
      profile: { groups: ['g'] },
      kerberos: ['changes@EXAMPLE.COM'],
    },
    { name: 'out', id: 'out', disabled: true },
    { name: 'comes', id: 'comes' },
  ],
  clients: [clientOf('changes', { client_name: 'Other' }), clientOf('comes')],
  api_keys: [keyOf('changes', { application: 'Other' }), keyOf('comes')],
  public_keys: [lasting, publicKeyOf('comes')],
};

const OPTIONS = {
  dryRun: false,
  prune: true,
  former: 'refused',
  noAdministrator: false,
} as const;

/** Stores with the content of the earlier file, and with one person whom no file has. */
async function earlier(env: NodeJS.ProcessEnv) {
  const shell = new TestShell(env);
  const house = await openHouse(shell);
  const { stores, config } = house;
  // There is no follower, so a revocation need not wait.
  await stores.followers.settle((await stores.followers.look()).epoch);
  const path = join(await temporaryFolder(), 'declared.json');
  const read = async (content: object) => {
    await writeFile(path, JSON.stringify(content));
    return readDeclared(path, config, shell);
  };
  await applyDeclared(house, await read(EARLIER), OPTIONS);
  await keepPerson(house, { id: 'bystander', name: 'bystander', created_at: 0 });
  for (const clientId of ['changes', 'goes']) {
    const consent = { clientId, generation: 0, since: 0 };
    const whose = { accountId: 'bystander', redirectHost: 'app.example' };
    const scopes = { allowed: { '': ['openid'] }, refused: {} };
    await recordConsent(house, { ...consent, ...whose, ...scopes }, { scope: 'openid' }, 3600);
  }
  return { open: house, later: await read(LATER) };
}

/** The whole content of the store. */
async function stateOf({ stores }: House) {
  const people = await stores.people.page({ limit: 100 });
  return {
    // A repeated change increases the version only.
    people: people.map((person) => ({ ...person, version: 0 })),
    ended: await Promise.all(
      people.map(async ({ id }) => (await stores.revocations.generation('person', id)) > 0),
    ),
    clients: await stores.clients.list(),
    keys: await stores.apiKeys.list(),
    publicKeys: await Promise.all(
      people.map(({ id }) => stores.publicKeys.of({ kind: 'person', id })),
    ),
    declared: await stores.declared.list(),
    consents: await stores.artefacts.listByAccount('Consent', 'bystander'),
    events: (await stores.audit.open()).texts.toSorted(),
  };
}

/** Asserts that each change has its event, and each event its change. */
function agrees({
  people,
  clients,
  keys,
  publicKeys,
  events,
}: Awaited<ReturnType<typeof stateOf>>) {
  const told = (member: string, kind: string, ...ends: readonly string[]) => {
    const these = events
      .map((text) => JSON.parse(text) as Record<string, string>)
      .filter((event) => [kind, ...ends].includes(event['kind'] ?? ''));
    const counts = Map.groupBy(these, (event) => event[member] ?? '');
    return [...counts].flatMap(([id, { length }]) => (length === 1 ? id : [])).toSorted();
  };
  const sorted = (ids: readonly string[]) => ids.toSorted();
  expect({
    people: told('person', 'person.added'),
    disabled: told('person', 'person.disabled'),
    clients: told('client', 'client.added', 'client.removed'),
    renamed: told('client', 'client.changed'),
    keys: told('key', 'api-key.added', 'api-key.removed'),
    rotated: told('key', 'api-key.rotated'),
    publicKeys: told('key', 'public-key.added', 'public-key.removed'),
  }).toEqual({
    people: sorted(people.map(({ id }) => id)),
    disabled: sorted(people.flatMap(({ id, disabled }) => (disabled ? id : []))),
    clients: sorted(clients.map((client) => client.client_id)),
    renamed: sorted(
      clients.flatMap(({ client_id, client_name }) => (client_name === 'Other' ? client_id : [])),
    ),
    keys: sorted(keys.map(({ id }) => id)),
    rotated: sorted(keys.flatMap(({ id, application }) => (application === 'Other' ? id : []))),
    publicKeys: sorted(publicKeys.flat().map(({ id }) => id)),
  });
}

describe.each([
  ['SQLite', newData],
  ['PostgreSQL with Redis', () => newShared(shared)],
])('on %s', (_, newStore) => {
  test.each(WAYS)(
    'if a run is %s at any of its writes, finished changes have one event each, and the next run does the rest',
    async (way) => {
      /** One run that is interrupted, and one complete run. */
      const runs = async (at: number) => {
        const { open, later } = await earlier(await newStore());
        await using house = open;
        const faulty = interrupted(house.stores, at, way);
        const recorder = house.recorder.of(faulty.stores);
        const first = applyDeclared({ ...house, stores: faulty.stores, recorder }, later, OPTIONS);
        await first.catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailable));
        agrees(await stateOf(house));
        await applyDeclared(house, later, OPTIONS);
        expect(await applyDeclared(house, later, { ...OPTIONS, dryRun: true })).toEqual([]);
        return { end: await stateOf(house), happened: faulty.happened() };
      };
      const { end } = await runs(Infinity);
      expect(end.consents).toMatchObject([{ clientId: 'changes' }]);
      for (let at = 1; ; at += 1) {
        const { end: found, happened } = await runs(at);
        expect([at, found]).toEqual([at, end]);
        if (!happened) break;
      }
    },
  );
});
