import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { ALONE } from '#shared/base/line.ts';
import { DIGEST_KINDS } from '#shared/auth/schemes/digest/verifier.ts';
import { listAccess, recordAccess } from '#shared/people/access/grants.ts';
import { listSignIns, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { localDirectory } from '#shared/people/local.ts';
import { lackingOf } from '#shared/people/lacking.ts';
import { createPasswords } from '#shared/people/password.ts';
import { keepPerson } from '#shared/people/people.ts';
import { everybodyIn, someVerifier, somePerson } from '#shared/stores/contract/samples.ts';
import { SLICE } from '#shared/stores/sql/rows.ts';
import { cli, inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly password?: string;
}

const PASSWORD = 'correct horse battery staple';

const newShell = async () => new TestShell(await newData());

/** Runs a command that reads a password. */
const given = async (shell: TestShell, password: string, ...args: readonly string[]) => {
  shell.stdin = password;
  return (await json(shell, 'user', ...args, '--password-stdin')) as Listed;
};

const enters = (shell: TestShell, name: string, password: string) =>
  withStores(shell, async ({ people, revocations }) => {
    const passwords = createPasswords();
    const directory = localDirectory({
      people,
      revocations,
      passwords,
      admitted: { demo: false, sources: new Set() },
    });
    return (await directory.authenticate(name, password, ALONE)) !== undefined;
  });

/**
 * alice with a session and with a grant for an application; returns a function that counts what is left.
 */
async function signedIn() {
  const shell = await newShell();
  const { id } = await given(shell, PASSWORD, 'add', 'alice');
  await withPeople(shell, async (store) => {
    const origin = { accountId: id, generation: 0, since: shell.clock.now() };
    await recordSignIn(store, { ...origin, uid: 'browser', assurance: BY_PASSWORD }, 600);
    const access = { ...origin, grantId: 'grant', clientId: 'app', clientGeneration: 0 };
    await recordAccess(store, access, 600);
  });
  const left = () =>
    withPeople(shell, async (store) => ({
      signIns: (await listSignIns(store, id)).length,
      grants: (await listAccess(store, id)).length,
      generation: await store.stores.revocations.generation('person', id),
    }));
  expect(await left()).toEqual({ signIns: 1, grants: 1, generation: 0 });
  return { shell, id, left };
}

describe('user add', () => {
  test('--password-stdin --json prints identifier and name on one line, and the password works', async () => {
    const shell = await newShell();
    shell.stdin = `${PASSWORD}\n`;
    const args = ['user', 'add', 'Alice', '--password-stdin', '--json'];
    const { stdout } = await inProcess(shell, ...args);
    expect(stdout).toMatch(/^{"id":"[\w-]{22}","name":"alice"}\n$/);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
    expect(await enters(shell, 'alice', `${PASSWORD}\n`)).toBe(false);
  });

  test('without --password-stdin a password is generated and shown once', async () => {
    const shell = await newShell();
    const { stdout } = await inProcess(shell, 'user', 'add', 'alice');
    const [, password = ''] = /^password: ((?:\w{5}-){3}\w{5})$/m.exec(stdout) ?? [];
    expect(await enters(shell, 'alice', password)).toBe(true);
    expect((await inProcess(shell, 'user', 'list')).stdout).not.toContain(password);
  });

  test('spaces at both ends belong to a password, and both characters of a Windows line end do not', async () => {
    const shell = await newShell();
    await given(shell, ` ${PASSWORD} \r\n`, 'add', 'alice');
    expect(await enters(shell, 'alice', ` ${PASSWORD} `)).toBe(true);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
  });

  test.each([
    ['a name with a space', 'al ice', PASSWORD, 'a name is 1 to 64 letters'],
    ['a name with a control sequence', 'x\u001b[2J', PASSWORD, 'a name is 1 to 64 letters'],
    ['an empty password', 'alice', '', 'a password has at least 8 characters'],
    ['a short password', 'alice', '1234567\n', 'a password has at least 8 characters'],
    ['a password of two lines', 'alice', `${PASSWORD}\n\n`, 'a password has no control characters'],
    [
      'a file instead of a password',
      'alice',
      'x'.repeat(100_000),
      'a password has at most 1,024 octets',
    ],
    ['a common password', 'alice', 'Superman\n', 'one of the 10,000 commonest'],
  ])('%s: exit code 1 in one line, and no person is added', async (_, name, password, message) => {
    const shell = await newShell();
    shell.stdin = password;
    const ended = await inProcess(shell, 'user', 'add', name, '--password-stdin');
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr.split('\n')).toEqual([expect.stringContaining(message), '']);
    expect(await json(shell, 'user', 'list')).toEqual([]);
  });

  test('a password that is not UTF-8 is refused, not repaired', async () => {
    const shell = await newShell();
    shell.readStdin = async () => Buffer.from([...Buffer.from(PASSWORD), 0xff]);
    const ended = await inProcess(shell, 'user', 'add', 'alice', '--password-stdin');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('UTF-8')]);
  });

  test('a name that is taken in any form: exit code 1, and the password stays', async () => {
    const shell = await newShell();
    await given(shell, PASSWORD, 'add', 'alice');
    shell.stdin = 'another password';
    const ended = await inProcess(shell, 'user', 'add', 'ALICE', '--password-stdin');
    expect(ended).toMatchObject({ code: 1, stderr: 'the name alice is taken: choose another\n' });
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
  });

  test.each([
    [['user', 'add']],
    [['user', 'add', 'a', 'b']],
    [['user', 'add', 'a', '--password', 'x']],
  ])('%j is wrong usage', async (args) => {
    expect((await inProcess(await newShell(), ...args)).code).toBe(2);
  });

  test('works as a separate process', async () => {
    const env = await newData();
    const args = ['user', 'add', 'alice', '--password-stdin', '--json'];
    const { code, stdout, stderr } = await cli(args, env, PASSWORD);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'alice' });
  });
});

describe('user list: people who lack a verifier for a realm', () => {
  /** A shell, and the schemes that its single space offers from now on. */
  async function offering(schemes: readonly string[]) {
    const shell = await newShell();
    const file = `${shell.env['COUNTERSIGN_DATA']}.json`;
    shell.env['COUNTERSIGN_CONFIG'] = file;
    const offer = async (later: readonly string[], resource = 'http://localhost:3001') => {
      const space = { url: `${resource}/a/`, realm: 'a', schemes: later };
      await writeFile(file, JSON.stringify({ resource, spaces: [space] }));
    };
    await offer(schemes);
    return { shell, offer };
  }

  test('lists a scheme that was added later, until the next password', async () => {
    const { shell, offer } = await offering(['Digest']);
    await given(shell, PASSWORD, 'add', 'alice');
    expect(await json(shell, 'user', 'list')).toMatchObject([{ name: 'alice', lacks: [] }]);
    await offer(['SCRAM-SHA-256', 'Digest']);
    await given(shell, PASSWORD, 'add', 'bob');
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { name: 'alice', lacks: [{ realm: 'a', digest: [], scram: ['SHA-256'] }] },
      { name: 'bob', lacks: [] },
    ]);
    const { stdout } = await inProcess(shell, 'user', 'list');
    expect(stdout).toMatch(
      /^ID +NAME +ABOUT\n\S+ +alice +\(lacks: a: SCRAM-SHA-256\)\n\S+ +bob\n$/,
    );
    await given(shell, PASSWORD, 'passwd', 'alice');
    expect(await json(shell, 'user', 'list')).toMatchObject([{ lacks: [] }, { lacks: [] }]);
  });

  test('lists a password that SCRAM does not accept', async () => {
    const { shell } = await offering(['SCRAM-SHA-1', 'Digest']);
    await given(shell, '\u00bd of a password', 'add', 'alice');
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { lacks: [{ realm: 'a', digest: [], scram: ['SHA-1'] }] },
    ]);
  });

  test('does not list a person without a password, because verifiers need a password', async () => {
    const { shell } = await offering(['SCRAM-SHA-256', 'Digest']);
    await inProcess(shell, 'user', 'invite', 'alice');
    await given(shell, PASSWORD, 'add', 'bob');
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { name: 'alice', passwordless: true, lacks: [] },
      { name: 'bob', lacks: [] },
    ]);
    const { stdout } = await inProcess(shell, 'user', 'list');
    expect(stdout).toMatch(/ alice +\(no password\)$/m);
  });

  test('lists Mutual after a change of host (RFC 8120 section 5)', async () => {
    const { shell, offer } = await offering(['Mutual']);
    await given(shell, PASSWORD, 'add', 'alice');
    expect(await json(shell, 'user', 'list')).toMatchObject([{ lacks: [] }]);
    await offer(['Mutual', 'Digest'], 'http://127.0.0.1:3001');
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { lacks: [{ realm: 'a', mutual: ['iso-kam3-ec-p256-sha256'] }] },
    ]);
    const { stdout } = await inProcess(shell, 'user', 'list');
    expect(stdout).toContain(
      '(lacks: a: Digest SHA-256, Mutual iso-kam3-ec-p256-sha256 for 127.0.0.1)',
    );
    await given(shell, PASSWORD, 'passwd', 'alice');
    expect(await json(shell, 'user', 'list')).toMatchObject([{ lacks: [] }]);
  });

  test('shows no secrets that admit a person', async () => {
    const { shell } = await offering(['SCRAM-SHA-256', 'Digest']);
    await given(shell, PASSWORD, 'add', 'alice');
    const listed = (await inProcess(shell, 'user', 'list', '--json')).stdout;
    expect(listed).not.toMatch(/[0-9a-f]{32}|argon2|stored_key|digest:/);
  });
});

test('user list prints each of many people once, and reads their missing verifiers once', async () => {
  const shell = await newShell();
  const needs = { realm: 'one', kinds: [DIGEST_KINDS.MD5] };
  const names = Array.from({ length: SLICE + 2 }, (_, n) => `person${n}`);
  await withStores(shell, async (stores) => {
    for (const name of names) {
      const verifiers = [someVerifier('one', { kind: 'digest MD5' })];
      await keepPerson({ stores }, { ...somePerson(name), verifiers });
    }
    const asked: string[] = [];
    const getWhole = (id: string) => (asked.push(id), stores.people.getWhole(id));
    const lacking = lackingOf({ getWhole }, [needs, { ...needs, realm: 'two' }]);
    for (const person of await everybodyIn(stores)) {
      expect(await lacking(person)).toEqual([{ ...needs, realm: 'two' }]);
    }
    expect(asked).toHaveLength(1);
  });
  const { stdout } = await inProcess(shell, 'user', 'list');
  const [headings, ...listed] = stdout.trimEnd().split('\n');
  expect(headings).toMatch(/^ID +NAME/);
  expect(listed.map((line) => line.split(/ +/)[1])).toEqual(names.toSorted());
  expect(await json(shell, 'user', 'list')).toHaveLength(names.length);
});

describe('user kerberos', () => {
  test('replaces the principals, revokes everything, and lists the new principals', async () => {
    const { shell, id, left } = await signedIn();
    const args = ['user', 'kerberos', 'ALICE'];
    const kerberos = ['alice@EXAMPLE.COM', 'alice/admin@EXAMPLE.COM'];
    expect(await json(shell, ...args, ...kerberos)).toEqual({ id, name: 'alice', kerberos });
    expect(await left()).toEqual({ signIns: 0, grants: 0, generation: 1 });
    expect((await inProcess(shell, 'user', 'list')).stdout).toContain(
      `(kerberos: ${kerberos.join(', ')})`,
    );
    const { stdout } = await inProcess(shell, ...args);
    expect(stdout).toBe('No ticket lets alice in.\n');
    expect(await json(shell, 'user', 'list')).toMatchObject([{ kerberos: [] }]);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
  });

  test('an invalid principal: exit code 1 in one line, without the control character', async () => {
    const { shell, left } = await signedIn();
    const ended = await inProcess(shell, 'user', 'kerberos', 'alice', 'a@A', 'b\u001b[2J@A');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('is no principal')]);
    expect(ended.stderr).not.toContain('\u001b');
    expect(await left()).toEqual({ signIns: 1, grants: 1, generation: 0 });
  });

  test("a principal of another person: exit code 1, with that person's name", async () => {
    const { shell } = await signedIn();
    await given(shell, PASSWORD, 'add', 'bob');
    await json(shell, 'user', 'kerberos', 'bob', 'alice@EXAMPLE.COM');
    const ended = await inProcess(shell, 'user', 'kerberos', 'alice', 'alice@EXAMPLE.COM');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('belongs to bob')]);
  });

  test('a missing name is wrong usage', async () => {
    expect((await inProcess(await newShell(), 'user', 'kerberos')).code).toBe(2);
  });
});

test('user list prints names, marks disabled and demo people, and never prints a hash', async () => {
  const shell = await newShell();
  expect((await inProcess(shell, 'user', 'list')).stdout).toBe('There is nobody yet.\n');
  const inStaff = await inProcess(shell, 'user', 'list', '--group', 'staff');
  expect(inStaff.stdout).toBe('Nobody is in the group staff.\n');
  await given(shell, PASSWORD, 'add', 'bob');
  await given(shell, PASSWORD, 'add', 'alice');
  await inProcess(shell, 'user', 'disable', 'bob');
  const { stdout } = await inProcess(shell, 'user', 'list');
  expect(stdout).toMatch(/^ID +NAME +ABOUT\n\S+ +alice\n\S+ +bob +\(disabled\)\n$/);
  const listed = (await inProcess(shell, 'user', 'list', '--json')).stdout;
  expect(JSON.parse(listed)).toMatchObject([{ name: 'alice' }, { name: 'bob', disabled: true }]);
  expect(stdout + listed).not.toContain('argon2');
});

describe('user passwd', () => {
  test('the new password works, the old one does not, and all sessions and grants are revoked', async () => {
    const { shell, id, left } = await signedIn();
    expect(await given(shell, 'the new password', 'passwd', 'ALICE')).toEqual({
      id,
      name: 'alice',
    });
    expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
    expect(await enters(shell, 'alice', 'the new password')).toBe(true);
    expect(await left()).toEqual({ signIns: 0, grants: 0, generation: 2 });
  });

  test('without --password-stdin a password is generated and shown', async () => {
    const { shell } = await signedIn();
    const { password = '' } = (await json(shell, 'user', 'passwd', 'alice')) as Listed;
    expect(await enters(shell, 'alice', password)).toBe(true);
  });

  test('a short password: exit code 1, and nothing changes', async () => {
    const { shell, left } = await signedIn();
    shell.stdin = 'short';
    const { code } = await inProcess(shell, 'user', 'passwd', 'alice', '--password-stdin');
    expect(code).toBe(1);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
    expect(await left()).toEqual({ signIns: 1, grants: 1, generation: 0 });
  });
});

test('user disable refuses all credentials and revokes everything; --undo admits again and restores nothing', async () => {
  const { shell, id, left } = await signedIn();
  const args = ['user', 'disable', 'alice'];
  expect(await json(shell, ...args)).toEqual({ id, name: 'alice', disabled: true });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
  expect(await left()).toMatchObject({ signIns: 0, grants: 0 });
  expect(await json(shell, ...args, '--undo')).toEqual({ id, name: 'alice', disabled: false });
  expect(await json(shell, ...args)).toMatchObject({ disabled: true });
  expect(await json(shell, 'user', 'enable', 'alice')).toEqual({
    id,
    name: 'alice',
    disabled: false,
  });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
  expect(await left()).toMatchObject({ signIns: 0, grants: 0 });
});

test('user end revokes everything, and the password still works', async () => {
  const { shell, id, left } = await signedIn();
  expect(await json(shell, 'user', 'end', 'alice')).toEqual({ id, name: 'alice', ended: true });
  expect(await left()).toEqual({ signIns: 0, grants: 0, generation: 1 });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
});

test.each(['passwd', 'disable', 'end', 'kerberos', 'show', 'access', 'remove'])(
  'user %s of an unknown person: exit code 1, and nothing is revoked',
  async (verb) => {
    const shell = await newShell();
    const { code, stderr } = await inProcess(shell, 'user', verb, 'nobody\u001b[2J');
    expect([code, stderr]).toEqual([1, String.raw`there is no person nobody\u001b[2J` + '\n']);
  },
);
