import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeysIn, somePasskey } from '#shared/stores/contract/samples.ts';
import { runProcess } from './cli-user.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';

const PASSKEYS = 10;

/** The passkey commands as processes beside two authorization servers. */
describe.each(STORE_KINDS)('passkeys on %s', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2 });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const newId = () => randomBytes(16).toString('base64url');
  const idsOf = async (accountId: string) =>
    (await flow.stores.passkeys.of(accountId)).map(({ id }) => id);

  /** Imports a person with ten passkeys and no password. */
  async function newPerson() {
    const { pair, stores } = flow;
    const [accountId, ids] = [newId(), Array.from({ length: PASSKEYS }, newId)];
    const name = accountId.replaceAll(/[-_]/g, '').toLowerCase();
    const file = join(pair.data, `${name}.json`);
    const directory = {
      countersign_directory: 1,
      people: [{ id: accountId, name, verifiers: [], created_at: 1 }],
      api_keys: [],
      public_keys: [],
      second_factors: [],
      passkeys: ids.map((id, n) => ({ ...somePasskey(id), accountId, created_at: n })),
    };
    await writeFile(file, JSON.stringify(directory));
    expect(await pair.cli('directory', 'import', file)).toMatchObject({
      people: { added: 1 },
      passkeys: { added: PASSKEYS },
    });
    expect(await stores.people.get(accountId)).not.toHaveProperty('password_hash');
    return { accountId, name, ids };
  }

  test('ten removals of different passkeys at once leave one, so that the person can sign in', async () => {
    const { accountId, name, ids } = await newPerson();
    const ended = await Promise.all(
      ids.map((id) => runProcess(['user', 'passkey', 'remove', name, id], flow.pair.env)),
    );
    const refused = ids.filter((_, n) => ended[n]?.code !== 0);
    expect(refused).toHaveLength(1);
    expect(ended.find(({ code }) => code !== 0)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`is the last way in of ${name}`),
    });
    expect(await idsOf(accountId)).toEqual(refused);
  });

  test('ten removals of one passkey at once: one succeeds, nine find none', async () => {
    const { accountId, name, ids } = await newPerson();
    const [id = '', ...others] = ids;
    const ended = await Promise.all(
      ids.map(() => runProcess(['user', 'passkey', 'remove', name, id], flow.pair.env)),
    );
    expect(ended.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(ended.filter(({ code }) => code === 1)).toHaveLength(PASSKEYS - 1);
    expect(new Set(await idsOf(accountId))).toEqual(new Set(others));
  });

  test("`user remove` deletes the person's passkeys, and no other person's", async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    await flow.pair.cli('user', 'remove', one.name);
    expect(await idsOf(one.accountId)).toEqual([]);
    expect(new Set(await idsOf(other.accountId))).toEqual(new Set(other.ids));
    for (const id of one.ids) expect(await flow.stores.passkeys.get(id)).toBeUndefined();
  });

  test('an import restores passkeys removed after the export, and no counter decreases', async () => {
    const { pair, stores } = flow;
    const { accountId, name, ids } = await newPerson();
    const file = join(pair.data, `${name}.export`);
    await pair.cli('directory', 'export', file);
    expect(JSON.parse(await readFile(file, 'utf8')).passkeys).toHaveLength(
      (await passkeysIn(stores)).length,
    );
    const [used = '', removed = ''] = ids;
    await stores.passkeys.use(used, { counter: 100, backedUp: true, at: 5 });
    await pair.cli('user', 'passkey', 'remove', name, removed);
    await pair.cli('directory', 'import', file);
    expect(new Set(await idsOf(accountId))).toEqual(new Set(ids));
    expect(await stores.passkeys.get(used)).toMatchObject({ counter: 100, used_at: 5 });
    expect(await stores.passkeys.use(used, { counter: 100, backedUp: true, at: 6 })).toBe(
      'refused',
    );
  });
});
