import { describe, expect, test } from '@jest/globals';
import { listAccess, recordAccess } from '#shared/access/grants.ts';
import { listSignIns, recordSignIn } from '#shared/access/sign-ins.ts';
import { localDirectory } from '#shared/directory/local.ts';
import { createPasswords } from '#shared/directory/password.ts';
import { cli, inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../with-people.ts';
import { withStores } from '../with-stores.ts';

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
    const directory = localDirectory({ people, revocations, passwords, demo: false });
    return (await directory.authenticate(name, password)) !== undefined;
  });

/** alice, who is signed in and has allowed an application something; says what is left of it. */
async function signedIn() {
  const shell = await newShell();
  const { id } = await given(shell, PASSWORD, 'add', 'alice');
  await withPeople(shell, async (store) => {
    const origin = { accountId: id, generation: 0, since: shell.clock.now() };
    await recordSignIn(store, { ...origin, uid: 'browser' }, 600);
    await recordAccess(store, { ...origin, grantId: 'grant', clientId: 'app' }, 600);
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
  test('--password-stdin --json: identifier and name on one line, and that password lets in', async () => {
    const shell = await newShell();
    shell.stdin = `${PASSWORD}\n`;
    const args = ['user', 'add', 'Alice', '--password-stdin', '--json'];
    const { stdout } = await inProcess(shell, ...args);
    expect(stdout).toMatch(/^{"id":"[\w-]{22}","name":"alice"}\n$/);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
    expect(await enters(shell, 'alice', `${PASSWORD}\n`)).toBe(false);
  });

  test('without it a password is made and shown, this once', async () => {
    const shell = await newShell();
    const { stdout } = await inProcess(shell, 'user', 'add', 'alice');
    const [, password = ''] = /^password: ((?:\w{5}-){3}\w{5})$/m.exec(stdout) ?? [];
    expect(await enters(shell, 'alice', password)).toBe(true);
    expect((await inProcess(shell, 'user', 'list')).stdout).not.toContain(password);
  });

  test('spaces at both ends belong to a password; of a Windows line both end characters go', async () => {
    const shell = await newShell();
    await given(shell, ` ${PASSWORD} \r\n`, 'add', 'alice');
    expect(await enters(shell, 'alice', ` ${PASSWORD} `)).toBe(true);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
  });

  test.each([
    ['a name with a space', 'al ice', PASSWORD, 'a name is 1 to 64 letters'],
    ['a name that moves the cursor', 'x\u001b[2J', PASSWORD, 'a name is 1 to 64 letters'],
    ['an empty password', 'alice', '', 'a password is 8 to 1024 bytes'],
    ['a short password', 'alice', '1234567\n', 'a password is 8 to 1024 bytes'],
    ['a password of two lines', 'alice', `${PASSWORD}\n\n`, 'a password is 8 to 1024 bytes'],
    ['a file instead of a password', 'alice', 'x'.repeat(100_000), 'a password is 8 to 1024 bytes'],
  ])('%s: 1, in one line, and nobody is added', async (_, name, password, message) => {
    const shell = await newShell();
    shell.stdin = password;
    const ended = await inProcess(shell, 'user', 'add', name, '--password-stdin');
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr.split('\n')).toEqual([expect.stringContaining(message), '']);
    expect(await json(shell, 'user', 'list')).toEqual([]);
  });

  test('a password that is not UTF-8 is refused, not mended', async () => {
    const shell = await newShell();
    shell.readStdin = async () => Buffer.from([...Buffer.from(PASSWORD), 0xff]);
    const ended = await inProcess(shell, 'user', 'add', 'alice', '--password-stdin');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('UTF-8')]);
  });

  test('a name that is taken, in any form: 1, and the password stays', async () => {
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

  test('as a process of its own', async () => {
    const env = await newData();
    const args = ['user', 'add', 'alice', '--password-stdin', '--json'];
    const { code, stdout, stderr } = await cli(args, env, PASSWORD);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'alice' });
  });
});

test('user list: names, never a hash; who is disabled or a demo is marked', async () => {
  const shell = await newShell();
  expect((await inProcess(shell, 'user', 'list')).stdout).toBe('There is nobody yet.\n');
  await given(shell, PASSWORD, 'add', 'bob');
  await given(shell, PASSWORD, 'add', 'alice');
  await inProcess(shell, 'user', 'disable', 'bob');
  const { stdout } = await inProcess(shell, 'user', 'list');
  expect(stdout).toMatch(/^\S+ +alice\n\S+ +bob +\(disabled\)\n$/);
  const listed = (await inProcess(shell, 'user', 'list', '--json')).stdout;
  expect(JSON.parse(listed)).toMatchObject([{ name: 'alice' }, { name: 'bob', disabled: true }]);
  expect(stdout + listed).not.toContain('argon2');
});

describe('user passwd', () => {
  test('the new password lets in, the old one does not, and all that it opened has ended', async () => {
    const { shell, id, left } = await signedIn();
    expect(await given(shell, 'the new password', 'passwd', 'ALICE')).toEqual({
      id,
      name: 'alice',
    });
    expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
    expect(await enters(shell, 'alice', 'the new password')).toBe(true);
    expect(await left()).toEqual({ signIns: 0, grants: 0, generation: 1 });
  });

  test('without --password-stdin one is made and shown', async () => {
    const { shell } = await signedIn();
    const { password = '' } = (await json(shell, 'user', 'passwd', 'alice')) as Listed;
    expect(await enters(shell, 'alice', password)).toBe(true);
  });

  test('a short one: 1, and nothing is changed or ended', async () => {
    const { shell, left } = await signedIn();
    shell.stdin = 'short';
    const { code } = await inProcess(shell, 'user', 'passwd', 'alice', '--password-stdin');
    expect(code).toBe(1);
    expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
    expect(await left()).toEqual({ signIns: 1, grants: 1, generation: 0 });
  });
});

test('user disable: no way in and nothing left; --undo lets in again and brings nothing back', async () => {
  const { shell, id, left } = await signedIn();
  const args = ['user', 'disable', 'alice'];
  expect(await json(shell, ...args)).toEqual({ id, name: 'alice', disabled: true });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(false);
  expect(await left()).toMatchObject({ signIns: 0, grants: 0 });
  expect(await json(shell, ...args, '--undo')).toEqual({ id, name: 'alice', disabled: false });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
  expect(await left()).toMatchObject({ signIns: 0, grants: 0 });
});

test('user end: everything has ended, and the password still lets in', async () => {
  const { shell, id, left } = await signedIn();
  expect(await json(shell, 'user', 'end', 'alice')).toEqual({ id, name: 'alice', ended: true });
  expect(await left()).toEqual({ signIns: 0, grants: 0, generation: 1 });
  expect(await enters(shell, 'alice', PASSWORD)).toBe(true);
});

test.each(['passwd', 'disable', 'end'])(
  'user %s of nobody: 1, and nothing is revoked',
  async (verb) => {
    const shell = await newShell();
    const { code, stderr } = await inProcess(shell, 'user', verb, 'nobody\u001b[2J');
    expect([code, stderr]).toEqual([1, 'there is no person nobody\u001b[2J\n']);
  },
);
