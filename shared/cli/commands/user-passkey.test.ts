import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { findAccess, recordAccess } from '#shared/people/access/grants.ts';
import { findSignIn, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { passkeysIn, somePasskey, somePublicKey } from '#shared/stores/contract/samples.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

const PASSWORD = 'correct horse battery staple';
/** A possible id of 16 octets that looks like an option. */
const DASHED = '-AAAAAAAAAAAAAAAAAAAAA';

/** A shell with alice and bob; `add` gives one of them a passkey. */
async function newShell() {
  const shell = new TestShell(await newData());
  const ids: Record<string, string> = {};
  for (const name of ['alice', 'bob']) {
    shell.stdin = PASSWORD;
    const added = await json(shell, 'user', 'add', name, '--password-stdin');
    ids[name] = (added as { id: string }).id;
  }
  const idOf = (name: string) => ids[name] ?? '';
  const add = (name: string, id: string, changes: Partial<PasskeyRecord> = {}) =>
    withStores(shell, async ({ passkeys }) => {
      const passkey = { ...somePasskey(id), accountId: idOf(name), ...changes };
      await passkeys.add(passkey, 20);
      return passkey;
    });
  /** Removes the password, so that only passkeys and keys are left. */
  const withoutPassword = (name: string) =>
    withStores(shell, async ({ people }) => {
      const record = await people.get(idOf(name));
      if (record === undefined) throw new Error(`${name} is gone`);
      const { password_hash: _, ...person } = record;
      await people.replace({ ...person, version: person.version + 1 }, []);
    });
  return { shell, idOf, add, withoutPassword };
}

const stored = async (shell: TestShell) =>
  (await withStores(shell, passkeysIn)).map(({ id }) => id).toSorted();

const at = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;

describe('user passkey list', () => {
  test("lists all passkeys, or one person's, with the last use and refusal", async () => {
    const { shell, add } = await newShell();
    const first = await add('alice', 'one', { created_at: 1 });
    const second = await add('alice', 'two', {
      created_at: 2,
      used_at: 60_000,
      refused_at: 120_000,
    });
    const his = await add('bob', 'his', { name: 'Phone', rpId: 'other.example', backedUp: false });
    await json(shell, 'user', 'disable', 'bob');
    const shown = (person: string, passkey: PasskeyRecord) => {
      const { id, name, rpId, backedUp, created_at, used_at, refused_at } = passkey;
      const times = {
        created_at,
        ...(used_at !== undefined && { used_at }),
        ...(refused_at !== undefined && { refused_at }),
      };
      return { id, name, person, domain: rpId, backed_up: backedUp, ...times };
    };
    const hers = [shown('alice', first), shown('alice', second)];
    const all = (await json(shell, 'user', 'passkey', 'list')) as unknown[];
    expect(new Set(all)).toEqual(new Set([...hers, { ...shown('bob', his), disabled: true }]));
    expect(await json(shell, 'user', 'passkey', 'list', 'ALICE')).toEqual(hers);
    const { stdout } = await inProcess(shell, 'user', 'passkey', 'list', 'alice');
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
    expect(lines).toEqual([
      'ID | PERSON | DOMAIN | NAME | MADE | LAST USE',
      `one | alice | auth.example | Laptop | ${at(1)} | never used`,
      `two | alice | auth.example | Laptop | ${at(2)} | used ${at(60_000)} | refused ${at(120_000)}`,
      '',
    ]);
    const { stdout: ofBob } = await inProcess(shell, 'user', 'passkey', 'list', 'bob');
    expect(ofBob).toMatch(/his .*Phone .*\(disabled\)\n$/);
  });

  test('shows neither the public key nor the counter', async () => {
    const { shell, add } = await newShell();
    const { publicKey } = await add('alice', 'one', { counter: 4_242_424_242 });
    const { stdout } = await inProcess(shell, 'user', 'passkey', 'list', '--json');
    expect(stdout).toContain('"one"');
    expect(stdout).not.toMatch(new RegExp(`${publicKey}|4242424242`));
  });

  test('an empty list is no error, but an unknown person is: exit code 1', async () => {
    const { shell } = await newShell();
    for (const args of [[], ['alice']]) {
      const { code, stdout } = await inProcess(shell, 'user', 'passkey', 'list', ...args);
      expect([code, stdout]).toEqual([0, 'There is no passkey yet.\n']);
      expect(await json(shell, 'user', 'passkey', 'list', ...args)).toEqual([]);
    }
    const { code, stderr } = await inProcess(shell, 'user', 'passkey', 'list', 'carol');
    expect([code, stderr]).toEqual([1, 'there is no person carol\n']);
  });
});

describe('user passkey remove', () => {
  const remove = (shell: TestShell, ...args: string[]) =>
    inProcess(shell, 'user', 'passkey', 'remove', ...args);

  test("removes the passkey; a second time, another person's, or an unknown one: exit code 1, with a hint", async () => {
    const { shell, add } = await newShell();
    await add('alice', DASHED);
    await add('bob', 'his');
    for (const id of ['his', 'x', '../x']) {
      const stderr = `alice has no passkey ${id}: see user passkey list alice\n`;
      expect(await remove(shell, 'alice', id)).toEqual({ code: 1, stdout: '', stderr });
    }
    expect(await json(shell, 'user', 'passkey', 'remove', 'ALICE', DASHED)).toEqual({
      id: DASHED,
      person: 'alice',
      removed: true,
    });
    expect((await remove(shell, 'alice', DASHED)).code).toBe(1);
    expect((await remove(shell, 'carol', 'his')).stderr).toBe('there is no person carol\n');
    expect(await stored(shell)).toEqual(['his']);
    expect((await remove(shell, 'bob', 'his')).stdout).toBe(
      'Removed the passkey his of bob. All that it opened has ended.\n',
    );
  });

  test("revokes the passkey's sessions and grants, also those that outlive the browser session, and no others", async () => {
    const { shell, idOf, add } = await newShell();
    const accountId = idOf('alice');
    await add('alice', 'one');
    await add('alice', 'two');
    const opened = (which: string, passkey: string | undefined) => ({
      accountId,
      generation: 0,
      since: 1,
      ...(passkey !== undefined && { passkey }),
      uid: which,
      assurance: BY_PASSWORD,
      grantId: which,
      clientId: 'app',
      clientGeneration: 0,
    });
    const which = ['one', 'two', undefined];
    await withPeople(shell, async (store) => {
      for (const passkey of which) {
        await recordSignIn(store, opened(`by ${passkey}`, passkey), 600);
        await recordAccess(store, opened(`by ${passkey}`, passkey), 600);
      }
    });
    const left = () =>
      withPeople(shell, async (store) => {
        const found = [];
        for (const passkey of which) {
          const signIn = await findSignIn(store, `by ${passkey}`);
          const access = await findAccess(store, `by ${passkey}`);
          found.push([signIn !== undefined, access !== undefined]);
        }
        return found;
      });
    const both = [true, true];
    expect(await left()).toEqual([both, both, both]);
    await remove(shell, 'alice', 'one');
    expect(await left()).toEqual([[false, false], both, both]);
  });

  test('the last passkey stays without --last, unless the person has a password or a key', async () => {
    const { shell, idOf, add, withoutPassword } = await newShell();
    await add('alice', 'one');
    await add('alice', 'two');
    await add('bob', 'his');
    await withoutPassword('alice');
    expect((await remove(shell, 'alice', 'one')).code).toBe(0);
    const { code, stdout, stderr } = await remove(shell, 'alice', 'two');
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'the passkey two is the last way in of alice: give them another first (user recover alice), or give --last\n',
    ]);
    expect(await stored(shell)).toEqual(['his', 'two']);
    expect((await remove(shell, 'bob', 'his')).code).toBe(0);
    expect((await remove(shell, 'alice', 'two', '--last')).code).toBe(0);
    expect(await stored(shell)).toEqual([]);
    await add('alice', 'three');
    const owner = { kind: 'person', id: idOf('alice') } as const;
    await withStores(shell, ({ publicKeys }) =>
      publicKeys.add({ ...somePublicKey('key'), owner }, 1),
    );
    expect((await remove(shell, 'alice', 'three')).code).toBe(0);
  });

  test('ten removals of different passkeys at once leave the last one', async () => {
    const { shell, add, withoutPassword } = await newShell();
    const ids = Array.from({ length: 10 }, (_, n) => `passkey${n}`);
    for (const id of ids) await add('alice', id);
    await withoutPassword('alice');
    const ended = await Promise.all(
      ids.map((id) => {
        const one = new TestShell(shell.env);
        return remove(one, 'alice', id);
      }),
    );
    expect(ended.filter(({ code }) => code === 0)).toHaveLength(9);
    const refused = ended.findIndex(({ code }) => code === 1);
    expect(ended[refused]?.stderr).toContain('is the last way in of alice');
    expect(await stored(shell)).toEqual([ids[refused]]);
  });
});

test('user list and user show mark people without a password', async () => {
  const { shell, withoutPassword } = await newShell();
  await withoutPassword('bob');
  const [alice, bob] = (await json(shell, 'user', 'list')) as unknown[];
  expect(alice).not.toHaveProperty('passwordless');
  expect(bob).toMatchObject({ name: 'bob', passwordless: true });
  expect((await inProcess(shell, 'user', 'list')).stdout).toMatch(/bob +\(no password\)/);
  expect(await json(shell, 'user', 'show', 'bob')).toMatchObject({ passwordless: true });
  expect((await inProcess(shell, 'user', 'show', 'bob')).stdout).toContain('\nno password\n');
  expect((await inProcess(shell, 'user', 'show', 'alice')).stdout).not.toContain('no password');
});

test('after a new password, and after a revocation of everything, remaining passkeys are named', async () => {
  const { shell, add } = await newShell();
  const told = async (...command: string[]) => {
    shell.stdin = PASSWORD;
    return (await inProcess(shell, ...command)).stdout;
  };
  const passwd = ['user', 'passwd', 'alice', '--password-stdin'];
  expect(await told(...passwd)).not.toContain('passkey');
  await add('alice', 'one');
  expect(await told(...passwd)).toContain(
    '1 passkey still lets alice in: see user passkey list, user passkey remove.',
  );
  await add('alice', 'two');
  expect(await told('user', 'end', 'alice')).toContain('2 passkeys still let alice in');
  expect(await stored(shell)).toEqual(['one', 'two']);
  expect(await json(shell, 'user', 'show', 'alice')).toMatchObject({ passkeys: 2, keys: 0 });
});
