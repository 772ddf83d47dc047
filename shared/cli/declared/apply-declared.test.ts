import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { addClient } from '#shared/operations/clients/client-add.ts';
import { addKey } from '#shared/operations/keys/key-add.ts';
import { Conflict, perform } from '#shared/operations/operation.ts';
import { findAccess, recordAccess } from '#shared/people/access/grants.ts';
import { addPerson } from '#shared/people/people.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { entryFile } from '../../../e2e/parts/entry.ts';
import { until } from '../../../e2e/parts/process.ts';
import { cli, newData, TestShell } from '../cli.fixture.ts';
import { newShared } from './new-shared.fixture.ts';
import { applyDeclared } from './apply-declared.ts';
import type { Wanted } from './wanted.ts';
import { openHouse } from '../stores/with-people.ts';

let shared: SharedStore;
beforeAll(async () => {
  shared = await startSharedStore();
});
afterAll(async () => shared[Symbol.asyncDispose]());

interface StoreOfTest {
  readonly name: string;
  /** Creates an empty store; returns its environment. */
  newStore(): Promise<NodeJS.ProcessEnv>;
  /** Whether another process has an open write transaction. */
  isWriting(env: NodeJS.ProcessEnv): boolean | Promise<boolean>;
}

const STORES: readonly StoreOfTest[] = [
  { name: 'SQLite', newStore: newData, isWriting: isSqliteWriting },
  {
    name: 'PostgreSQL with Redis',
    newStore: () => newShared(shared),
    isWriting: async () =>
      (await shared.postgres.sql(
        'SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL',
      )) !== '0',
  },
];

const people = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ name: `person-${n}`, id: `id-${n}`, ...more }));

const clients = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    client_id: `client-${n}`,
    client_name: 'App',
    grant_types: ['client_credentials'],
    scope: 'documents:read',
    secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  }));

const apiKeys = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `key-${n}`,
    application: 'App',
    realm: 'api-key',
    scopes: [],
    secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  }));

const NOTHING: Wanted = { people: [], clients: [], documents: [], keys: [], publicKeys: [] };
const ONCE = { dryRun: false, prune: false, former: 'refused', noAdministrator: true } as const;

const CONCEALED = { application: 'App', concealed: true, key_name: 'key' };
const ROBOT = {
  client_name: 'Robot',
  grant_types: ['client_credentials'],
  scope: 'documents:read',
  token_endpoint_auth_method: 'private_key_jwt',
};

async function written(content: object): Promise<string> {
  const file = join(await temporaryFolder(), 'declared.json');
  await writeFile(file, JSON.stringify(content));
  return file;
}

function isSqliteWriting({ COUNTERSIGN_DATA: data = '' }: NodeJS.ProcessEnv): boolean {
  using database = new DatabaseSync(join(data, 'state.db'), { timeout: 0 });
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  }
}

test('a part of a profile that a source owns is refused before any change, by a dry run, too', async () => {
  await using house = await openHouse(new TestShell(await newData()));
  const { people: there } = house.stores;
  const carol = await addPerson(house, { name: 'carol', profile: { groups: ['staff'] } });
  const origin = { source: 'corp', subject: 'x', managed: ['groups'] } as const;
  await there.replace({ ...carol, origin, version: 1 });
  const wanted = [...people(600), { name: 'carol', profile: { groups: ['admins'] } }];
  for (const dryRun of [true, false]) {
    const applied = applyDeclared(house, { ...NOTHING, people: wanted }, { ...ONCE, dryRun });
    await expect(applied).rejects.toThrow('the source corp owns');
  }
  expect(await there.page({ limit: 9 })).toHaveLength(1);
});

test('SQLite: many changes take several transactions, and a new administrator is in the first', async () => {
  const shell = new TestShell(await newData());
  await using house = await openHouse(shell);
  const { stores } = house;
  const lengths: number[] = [];
  const there = async () => (await stores.people.page({ limit: 9999 })).length;
  const together: typeof stores.together = async (work) => {
    const before = await there();
    const result = await stores.together(work);
    lengths.push((await there()) - before);
    return result;
  };
  const told: number[] = [];
  const options = {
    tell: (made: number) => void told.push(made),
    dryRun: false,
    prune: false,
    former: 'refused',
    noAdministrator: false,
  } as const;
  const apply = (all: Wanted['people']) =>
    applyDeclared(
      { ...house, stores: { ...stores, together } },
      { people: all, clients: [], documents: [], keys: [], publicKeys: [] },
      options,
    );
  await apply([{ name: 'root', admin: true }]);
  const changes = await apply([
    { name: 'root', admin: false },
    ...people(1100),
    { name: 'new', admin: true },
  ]);
  expect(changes).toHaveLength(1102);
  expect(lengths).toEqual([1, 499, 500, 102]);
  expect(told).toEqual([500, 1000]);
  expect((await stores.people.getByName('root'))?.admin ?? false).toBe(false);
});

describe.each(STORES)('on $name', ({ newStore, isWriting }) => {
  test('RFC 9729 section 8: with ten runs at once, a key signs a person in or authenticates a client, never both', async () => {
    const shell = new TestShell(await newStore());
    await using house = await openHouse(shell);
    await using other = await openHouse(shell);
    for (let round = 0; round < 5; round += 1) {
      const { publicKey } = generateKeyPairSync('ed25519');
      const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'EdDSA' };
      const id = keptJwk(jwk)?.id ?? '';
      const settled = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) => {
          const at = n % 4 < 2 ? house : other;
          return n % 2 === 0
            ? perform(addKey, { ...CONCEALED, public_key: JSON.stringify(jwk) }, at)
            : perform(addClient, { ...ROBOT, jwks: { keys: [jwk] } }, at);
        }),
      );
      for (const one of settled) {
        if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(Conflict);
      }
      const found = await house.stores.clients.withKey(id);
      const isKey = (await other.stores.publicKeys.get(id)) !== undefined;
      expect(isKey && found.length > 0).toBe(false);
      const won = settled.flatMap((one, n) => (one.status === 'fulfilled' ? n : []));
      expect(won.filter((n) => n % 2 === 0)).toHaveLength(isKey ? 1 : 0);
      expect(won.filter((n) => n % 2 === 1)).toHaveLength(found.length);
    }
  });

  test('two runs at once in separate processes both succeed, and each thing exists once', async () => {
    const env = await newStore();
    const file = await written({ people: people(50), clients: clients(50), api_keys: apiKeys(50) });
    const ended = await Promise.all([1, 2].map(() => cli(['apply', file, '--json'], env)));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    const counts = ended.map(({ stdout }) => JSON.parse(stdout).changes.length as number);
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(150);
    expect((await cli(['apply', file], env)).stdout).toBe('Nothing to change.\n');
    await using house = await openHouse(new TestShell(env));
    const { stores } = house;
    expect(await stores.people.page({ limit: 1000 })).toHaveLength(50);
    expect(await stores.declared.list()).toHaveLength(150);
    await addPerson(house, { name: 'other' });
    const empty = await written({});
    const pruned = await Promise.all([1, 2].map(() => cli(['apply', empty, '--prune'], env)));
    for (const { code, stderr } of pruned) expect([code, stderr]).toEqual([0, '']);
    expect((await cli(['apply', empty, '--prune'], env)).stdout).toBe('Nothing to change.\n');
    const pruned50 = await stores.people.page({ limit: 1000, prefix: 'person-' });
    expect(pruned50.filter(({ disabled }) => disabled)).toHaveLength(50);
    expect((await stores.people.getByName('other'))?.disabled).toBeUndefined();
    const left = [stores.clients.list(), stores.apiKeys.list(), stores.declared.list()];
    expect(await Promise.all(left)).toEqual([[], [], []]);
    const events = ['audit', 'list', '--limit', '9999', '--json'];
    const told = (await cli(events, env)).stdout.trim().split('\n');
    for (const event of ['person.disabled', 'client.removed', 'api-key.removed']) {
      expect(told.filter((line) => line.includes(event))).toHaveLength(50);
    }
  });

  test('public keys by five processes at once: each exists once, with one event', async () => {
    const env = await newStore();
    const keys = Array.from({ length: 12 }, (_, n) => ({
      scheme: 'Concealed',
      owner: { kind: 'person', name: `person-${n}` },
      public_key: generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }),
      name: 'laptop',
    }));
    const file = await written({ people: people(12), public_keys: keys });
    const ended = await Promise.all([1, 2, 3, 4, 5].map(() => cli(['apply', file, '--json'], env)));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    const changes = ended.flatMap(({ stdout }) => JSON.parse(stdout).changes as object[]);
    expect(changes).toHaveLength(24);
    expect((await cli(['apply', file], env)).stdout).toBe('Nothing to change.\n');
    const events = ['audit', 'list', '--kind', 'public-key.added', '--limit', '99', '--json'];
    expect((await cli(events, env)).stdout.trim().split('\n')).toHaveLength(12);
    const pruned = await cli(['apply', await written({}), '--prune', '--json'], env);
    expect(JSON.parse(pruned.stdout).changes).toHaveLength(24);
  });

  test('two contradictory runs, repeated: each person is as one of the two files says', async () => {
    const env = await newStore();
    const groups = ['one', 'other'];
    const files = await Promise.all(
      groups.map((group) => written({ people: people(10, { profile: { groups: [group] } }) })),
    );
    const ended = await Promise.all([...files, ...files].map((file) => cli(['apply', file], env)));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    await using house = await openHouse(new TestShell(env));
    const all = await house.stores.people.page({ limit: 100 });
    expect(all).toHaveLength(10);
    for (const { profile } of all) expect(groups).toContain(profile?.groups?.join());
  });

  test('four files at once that each take the rights of another administrator: one administrator stays', async () => {
    const shell = new TestShell(await newStore());
    await using house = await openHouse(shell);
    await using other = await openHouse(shell);
    const names = ['root-0', 'root-1', 'root-2', 'root-3'];
    const options = { ...ONCE, noAdministrator: false };
    const apply = (all: Wanted['people'], n = 0) =>
      applyDeclared(n % 2 === 0 ? house : other, { ...NOTHING, people: all }, options);
    for (let round = 0; round < 5; round += 1) {
      await apply(names.map((name) => ({ name, admin: true, disabled: false })));
      const settled = await Promise.allSettled(
        names.map((name, n) =>
          apply([{ name, ...(n < 2 ? { disabled: true, admin: true } : {}) }], n),
        ),
      );
      const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(reasons).toEqual([
        expect.objectContaining({ message: expect.stringContaining('nobody would be') }),
      ]);
      const left = await house.stores.people.page({ limit: 9, list: { state: 'admin' } });
      expect(left.filter(({ disabled }) => !disabled)).toHaveLength(1);
    }
  });

  test('a grant that a server gives before the commit of a lost group ends, too', async () => {
    await using house = await openHouse(new TestShell(await newStore()));
    const [client] = clients(1);
    const rule = { token_endpoint_auth_method: 'none', allow_groups: ['staff'], created_at: 0 };
    await house.stores.clients.add({ ...client!, ...rule } as ClientRecord);
    const { id } = await addPerson(house, { name: 'alice', profile: { groups: ['staff'] } });
    const grant = { grantId: 'meanwhile', accountId: id, clientId: client!.client_id };
    const together: typeof house.stores.together = async (work) => {
      const result = await house.stores.together(work);
      const more = { generation: 0, clientGeneration: 0, since: 0 };
      await recordAccess(house, { ...grant, ...more }, 600);
      return result;
    };
    await applyDeclared(
      { ...house, stores: { ...house.stores, together } },
      { ...NOTHING, people: [{ name: 'alice', profile: {} }] },
      ONCE,
    );
    expect(await findAccess(house, 'meanwhile')).toBeUndefined();
  });

  test('other writers lose nothing meanwhile', async () => {
    const env = await newStore();
    await using house = await openHouse(new TestShell(env));
    const file = await written({ people: people(150) });
    const applying = cli(['apply', file], env);
    for (let n = 0; n < 20; n += 1) await addPerson(house, { name: `other-${n}` });
    expect((await applying).stdout).toContain('150 changes.');
    expect(await house.stores.people.page({ limit: 1000, prefix: 'other-' })).toHaveLength(20);
    expect(await house.stores.people.page({ limit: 1000, prefix: 'person-' })).toHaveLength(150);
  });

  /** Kills a run once it has made this many people; undefined if the run finished earlier. */
  async function killedAt(count: number) {
    const env = await newStore();
    const file = await written({ people: people(count) });
    await using house = await openHouse(new TestShell(env));
    const { people: here, declared } = house.stores;
    const args = [entryFile('shared/cli/main.ts'), 'apply', file];
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([until(() => isWriting(env)), ended]);
    child.kill('SIGKILL');
    await ended;
    const before = (await here.page({ limit: count })).length;
    if (before === count) return undefined;
    expect([before, await declared.list()]).toEqual([0, []]);
    return { env, file, before };
  }

  test('if a run is killed between two changes, the next run does the rest, each thing and its event once', async () => {
    const count = 450;
    let killed: Awaited<ReturnType<typeof killedAt>>;
    while (killed === undefined) killed = await killedAt(count);
    const { env, file, before } = killed;
    const { stdout } = await cli(['apply', file, '--json'], env);
    expect(JSON.parse(stdout).changes).toHaveLength(count - before);
    expect((await cli(['apply', file], env)).stdout).toBe('Nothing to change.\n');
    const pruned = await cli(['apply', await written({}), '--prune', '--json'], env);
    expect(JSON.parse(pruned.stdout).changes).toHaveLength(count);
    const events = ['--kind', 'person.added', '--limit', '9999', '--json'];
    const lines = (await cli(['audit', 'list', ...events], env)).stdout;
    expect(lines.trim().split('\n')).toHaveLength(count);
  });
});
