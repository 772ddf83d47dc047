import { describe, expect, test } from '@jest/globals';
import { createRecoveryLinks, type Recovery } from '#shared/people/recovery-links.ts';
import { somePasskey, somePublicKey } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

interface Made {
  readonly id: string;
  readonly name: string;
  readonly link: string;
  readonly expires_at: number;
}

const newShell = async () => new TestShell(await newData());
const run = async (shell: TestShell, ...args: readonly string[]) =>
  (await json(shell, 'user', ...args)) as Made;
const record = (shell: TestShell, id: string) => withStores(shell, ({ people }) => people.get(id));

/** The right of a link's holder; undefined if the link is no longer valid. */
const behind = (shell: TestShell, { link }: Made): Promise<Recovery | undefined> =>
  withStores(shell, (stores) =>
    createRecoveryLinks({ stores, random: shell.random }).find(link.split('/').at(-1) ?? ''),
  );

/** A shell with alice, who has a password. */
async function withAlice() {
  const shell = await newShell();
  shell.stdin = 'correct horse battery staple';
  const { id } = await run(shell, 'add', 'alice', '--password-stdin');
  return { shell, id };
}

describe('user invite', () => {
  test('adds a person without a password, and prints a link for 15 minutes', async () => {
    const shell = await newShell();
    const made = await run(shell, 'invite', 'Alice', '--email', 'alice@example.com');
    expect(made).toEqual({
      id: expect.any(String),
      name: 'alice',
      link: expect.stringMatching(/^http:\/\/localhost:3000\/recover\/[\w-]{22}$/),
      expires_at: Math.floor(shell.clock.now() / 1000) + 900,
    });
    expect(await behind(shell, made)).toEqual({ person: made.id, purpose: 'invitation' });
    const kept = await record(shell, made.id);
    expect(kept).not.toHaveProperty('password_hash');
    expect(kept).toMatchObject({ profile: { emails: [{ address: 'alice@example.com' }] } });
  });

  test('the second invitation replaces the link of the first', async () => {
    const shell = await newShell();
    const first = await run(shell, 'invite', 'alice');
    const second = await run(shell, 'invite', 'ALICE');
    expect(second.id).toBe(first.id);
    expect(await behind(shell, first)).toBeUndefined();
    expect(await behind(shell, second)).toMatchObject({ person: first.id });
    const more = await inProcess(shell, 'user', 'invite', 'alice', '--group', 'staff');
    expect([more.code, more.stderr]).toEqual([1, expect.stringContaining('user set alice')]);
  });

  test.each<[string, (shell: TestShell, id: string) => Promise<unknown>]>([
    [
      'a passkey',
      (shell, id) =>
        withStores(shell, ({ passkeys }) =>
          passkeys.add({ ...somePasskey('p'), accountId: id }, 9),
        ),
    ],
    [
      'a key',
      (shell, id) =>
        withStores(shell, ({ publicKeys }) =>
          publicKeys.add({ ...somePublicKey('k'), owner: { kind: 'person', id } }, 9),
        ),
    ],
    ['a principal', (shell) => run(shell, 'kerberos', 'alice', 'alice@EXAMPLE.COM')],
  ])('refuses a person who signs in with %s', async (_, give) => {
    const shell = await newShell();
    const { id } = await run(shell, 'invite', 'alice');
    await give(shell, id);
    const { code, stderr } = await inProcess(shell, 'user', 'invite', 'alice');
    expect([code, stderr]).toEqual([1, expect.stringContaining('user recover alice')]);
  });

  test('refuses a person with a password, which stays', async () => {
    const { shell, id } = await withAlice();
    const before = await record(shell, id);
    const { code, stderr } = await inProcess(shell, 'user', 'invite', 'Alice');
    expect([code, stderr]).toEqual([1, expect.stringContaining('is here already')]);
    expect(await record(shell, id)).toEqual(before);
  });

  test('gives the name of a removed person only with an option', async () => {
    const { shell } = await withAlice();
    await run(shell, 'remove', 'alice');
    const { code, stderr } = await inProcess(shell, 'user', 'invite', 'alice');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--reuse-name')]);
    expect(await run(shell, 'invite', 'alice', '--reuse-name')).toMatchObject({ name: 'alice' });
  });

  test('an impossible name: exit code 1, and no person is added', async () => {
    const shell = await newShell();
    const { code, stderr } = await inProcess(shell, 'user', 'invite', 'al ice');
    expect([code, stderr]).toEqual([1, expect.stringContaining('a name is 1 to 64 letters')]);
    expect(await json(shell, 'user', 'list')).toEqual([]);
  });
});

describe('user recover', () => {
  test('prints a link; until it is used, the password and all sessions stay', async () => {
    const { shell, id } = await withAlice();
    const before = await record(shell, id);
    const { stdout } = await inProcess(shell, 'user', 'recover', 'alice');
    expect(stdout).toMatch(
      /^id: .*\nname: alice\nlink: http:.*\/recover\/[\w-]{22}\nworks once, until: \S+Z\n$/,
    );
    expect(await record(shell, id)).toEqual(before);
    const generation = await withStores(shell, ({ revocations }) =>
      revocations.generation('person', id),
    );
    expect(generation).toBe(0);
  });

  test('removes the second factor only with an option', async () => {
    const { shell, id } = await withAlice();
    const plain = await run(shell, 'recover', 'alice');
    expect(await behind(shell, plain)).toEqual({
      person: id,
      purpose: 'recovery',
      secondFactor: false,
    });
    const more = await run(shell, 'recover', 'alice', '--second-factor');
    expect(await behind(shell, more)).toMatchObject({ secondFactor: true });
    expect(await behind(shell, plain)).toBeUndefined();
  });

  test('user end, passwd, disable and remove revoke the link', async () => {
    for (const [verb, undo] of [
      ['end', 'show'],
      ['passwd', 'show'],
      ['disable', 'enable'],
      ['remove', undefined],
    ] as const) {
      const { shell } = await withAlice();
      const made = await run(shell, 'recover', 'alice');
      await run(shell, verb, 'alice');
      if (undo) await run(shell, undo, 'alice');
      expect([verb, await behind(shell, made)]).toEqual([verb, undefined]);
    }
  });

  test('refuses a disabled person and an unknown name', async () => {
    const { shell } = await withAlice();
    await run(shell, 'disable', 'alice');
    const disabled = await inProcess(shell, 'user', 'recover', 'alice');
    expect([disabled.code, disabled.stderr]).toEqual([
      1,
      'alice is disabled: user enable alice comes first\n',
    ]);
    const nobody = await inProcess(shell, 'user', 'recover', 'bob');
    expect([nobody.code, nobody.stderr]).toEqual([1, 'there is no person bob\n']);
  });
});
