import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { recordSignIn } from '#shared/people/access/sign-ins.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

const EMAILS = ['--email', 'alice@example.com,verified', '--email', 'second@example.com'];
const GROUPS = ['--group', 'Staff', '--group', 'Chess club'];
const PICTURE = ['--picture', 'https://pictures.example/alice.png'];
const ATTRIBUTES = ['--attribute', 'department=research', '--attribute', 'formula=a=b'];
const SAID = [
  ['--display-name', 'Alice Liddell'],
  EMAILS,
  GROUPS,
  ['--locale', 'EN-gb'],
  PICTURE,
  ATTRIBUTES,
];
const ALICE = SAID.flat();
const PROFILE = {
  display_name: 'Alice Liddell',
  emails: [
    { address: 'alice@example.com', verified: true },
    { address: 'second@example.com', verified: false },
  ],
  groups: ['Staff', 'Chess club'],
  locale: 'en-GB',
  picture: 'https://pictures.example/alice.png',
  attributes: [
    { name: 'department', value: 'research' },
    { name: 'formula', value: 'a=b' },
  ],
};

/** A shell with alice, who has no profile. */
async function withAlice(...options: readonly string[]) {
  const shell = new TestShell(await newData());
  const { id } = (await json(shell, 'user', 'add', 'alice', ...options)) as { id: string };
  const set = (...args: readonly string[]) => inProcess(shell, 'user', 'set', ...args);
  const profile = () =>
    withStores(shell, async ({ people }) => (await people.getByName('alice'))?.profile);
  return { shell, id, set, profile };
}

describe('user set', () => {
  test('given values are stored, shown and listed, and no session ends', async () => {
    const { shell, id, profile } = await withAlice();
    const whose = { uid: 'browser', accountId: id, generation: 0 };
    await withPeople(shell, (store) =>
      recordSignIn(store, { ...whose, since: 0, assurance: BY_PASSWORD }, 600),
    );
    expect(await json(shell, 'user', 'set', 'ALICE', ...ALICE)).toEqual({
      id,
      name: 'alice',
      ...PROFILE,
    });
    expect(await profile()).toEqual(PROFILE);
    expect(await json(shell, 'user', 'show', 'alice')).toEqual({
      id,
      name: 'alice',
      ...PROFILE,
      lacks_second_factor: false,
      disabled: false,
      created_at: shell.clock.now(),
      sign_ins: 1,
      grants: 0,
      keys: 0,
      passkeys: 0,
    });
    expect(await json(shell, 'user', 'list')).toMatchObject([{ id, ...PROFILE, version: 1 }]);
    const generation = await withStores(shell, ({ revocations }) =>
      revocations.generation('person', id),
    );
    expect(generation).toBe(0);
  });

  test('prints a line for each value', async () => {
    const { shell, set } = await withAlice();
    const lines = [
      'name: alice',
      'display name: Alice Liddell',
      'e-mail: alice@example.com (verified)',
      'e-mail: second@example.com',
      'group: Staff',
      'group: Chess club',
      'locale: en-GB',
      'picture: https://pictures.example/alice.png',
      'attribute: department=research',
      'attribute: formula=a=b',
    ];
    expect((await set('alice', ...ALICE)).stdout).toBe(`${lines.join('\n')}\n`);
    const { stdout } = await inProcess(shell, 'user', 'show', 'alice');
    for (const line of lines) expect(stdout.split('\n')).toContain(line);
    expect(stdout).toContain('open: 0 sign-ins, 0 grants, 0 keys, 0 passkeys');
  });

  test('other values stay, a list is replaced as a whole, and --without removes a value', async () => {
    const { set, profile } = await withAlice(...ALICE);
    expect(await profile()).toEqual(PROFILE);
    await set('alice', '--group', 'Board', '--without', 'picture', '--without', 'email');
    const { picture: _, emails: __, ...rest } = PROFILE;
    expect(await profile()).toEqual({ ...rest, groups: ['Board'] });
    const all = ['display-name', 'group', 'locale', 'attribute'].flatMap((option) => [
      '--without',
      option,
    ]);
    expect((await set('alice', ...all)).stdout).toBe('name: alice\n');
    expect(await profile()).toBeUndefined();
  });

  test.each([
    ['nothing', []],
    ['an invalid address', ['--email', 'alice']],
    ['an address with another word after it', ['--email', 'alice@example.com,Verified']],
    ['a group of two', ['--group', 'staff,admin']],
    ['the same group twice', ['--group', 'a', '--group', 'a']],
    ['an invalid language', ['--locale', 'en_GB']],
    ['a script for a picture', ['--picture', 'javascript:alert(1)']],
    ['an attribute without a value', ['--attribute', 'department']],
    ['an attribute without a name', ['--attribute', '=research']],
    ['the same attribute twice', ['--attribute', 'a=1', '--attribute', 'a=2']],
    ['an attribute that is a prototype', ['--attribute', '__proto__=x']],
    ['an empty name', ['--display-name', '']],
    ['a name with a control sequence', ['--display-name', 'x\u001b[2J']],
    ['removing an absent value', ['--without', 'password']],
    ['a value and its removal', ['--locale', 'en', '--without', 'locale']],
    ['a list and its removal', ['--group', 'a', '--without', 'group']],
  ])('%s: exit code 2 in one line, and nothing changes', async (_, options) => {
    const { set, profile } = await withAlice(...ALICE);
    const { code, stdout, stderr } = await set('alice', ...options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toContain('\u001b');
    expect(await profile()).toEqual(PROFILE);
  });

  test('ten changes of different members at once are all stored', async () => {
    const { shell, set, profile } = await withAlice();
    await Promise.all(SAID.map((args) => set('alice', ...args)));
    expect(await profile()).toEqual(PROFILE);
    expect(await json(shell, 'user', 'list')).toMatchObject([{ version: SAID.length }]);
  });

  test('a new password does not change the profile', async () => {
    const { shell, profile } = await withAlice(...ALICE);
    await json(shell, 'user', 'passwd', 'alice');
    expect(await profile()).toEqual(PROFILE);
  });

  test('an unknown name: exit code 1', async () => {
    const { set } = await withAlice();
    expect(await set('bob', '--locale', 'en')).toMatchObject({
      code: 1,
      stderr: 'there is no person bob\n',
    });
  });
});

test('user add adds no person if an option is wrong', async () => {
  const shell = new TestShell(await newData());
  for (const address of ['x', 'alice@b', '"alice"@example.com', 'alice@[127.0.0.1]']) {
    expect((await inProcess(shell, 'user', 'add', 'alice', '--email', address)).code).toBe(2);
  }
  expect(await json(shell, 'user', 'list')).toEqual([]);
});

test('user show shows no credential', async () => {
  const { shell } = await withAlice();
  const shown = await inProcess(shell, 'user', 'show', 'alice');
  const inJson = await inProcess(shell, 'user', 'show', 'alice', '--json');
  expect(shown.stdout + inJson.stdout).not.toMatch(/argon2|verifier|SCRAM/);
});

test('user list --email lists all people with that address, in any case, by name', async () => {
  const { shell, set } = await withAlice('--email', 'Office@Example.com,verified');
  await json(shell, 'user', 'add', 'aaron', '--email', 'office@example.com');
  await json(shell, 'user', 'add', 'bob', '--email', 'bob@example.com');
  const names = async (address: string) =>
    ((await json(shell, 'user', 'list', '--email', address)) as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await names('OFFICE@example.com')).toEqual(['aaron', 'alice']);
  expect(await names('office@example')).toEqual([]);
  const { stdout } = await inProcess(shell, 'user', 'list', '--email', 'nobody@example.com');
  expect(stdout).toBe('There is nobody with the address nobody@example.com.\n');
  await set('alice', '--email', 'alice@example.com');
  expect(await names('office@example.com')).toEqual(['aaron']);
  await json(shell, 'user', 'remove', 'aaron');
  expect(await names('office@example.com')).toEqual([]);
  await set('alice', '--email', 'alice@bücher.example');
  expect(await names('alice@xn--bcher-kva.example')).toEqual(['alice']);
  expect(await names('Alice@Bücher.example')).toEqual(['alice']);
});
