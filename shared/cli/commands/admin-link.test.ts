import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

interface Made {
  readonly link: string;
  readonly expires_at: number;
}

const make = async (shell: TestShell) => (await json(shell, 'admin', 'link')) as Made;
const isGood = (shell: TestShell, { link }: Made) =>
  withStores(
    shell,
    async (stores) =>
      (await createRegistrationLinks({ stores, random: shell.random }).find(
        link.split('/').at(-1) ?? '',
      )) !== undefined,
  );

/** A shell, and dina, an administrator without any way to sign in. */
async function withDina() {
  const shell = new TestShell(await newData());
  const { id } = (await json(shell, 'user', 'invite', 'dina')) as { readonly id: string };
  await json(shell, 'user', 'set', 'dina', '--admin');
  return { shell, id };
}

test('a link works for one hour, and replaces the earlier one', async () => {
  const shell = new TestShell(await newData());
  const first = await make(shell);
  expect(first.link).toMatch(/^http:\/\/localhost:3000\/register\/[\w-]{22}$/);
  expect(first.expires_at).toBe(Math.floor(shell.clock.now() / 1000) + 3600);
  expect(await isGood(shell, first)).toBe(true);
  const second = await make(shell);
  expect(await isGood(shell, first)).toBe(false);
  shell.clock.advance(3599);
  expect(await isGood(shell, second)).toBe(true);
  shell.clock.advance(1);
  expect(await isGood(shell, second)).toBe(false);
});

test('for people the command prints the link and its end', async () => {
  const { code, stdout } = await inProcess(new TestShell(await newData()), 'admin', 'link');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^link: http\S+\nworks once, until: \d{4}-\S+Z$/m);
});

test('an administrator without a password or a passkey, or one who is disabled, prevents no link', async () => {
  const { shell } = await withDina();
  await make(shell);
  shell.stdin = 'correct horse battery staple';
  await json(shell, 'user', 'passwd', 'dina', '--password-stdin');
  await json(shell, 'user', 'disable', 'dina');
  await make(shell);
});

test.each<[string, (made: Awaited<ReturnType<typeof withDina>>) => Promise<unknown>]>([
  [
    'password',
    ({ shell }) => {
      shell.stdin = 'correct horse battery staple';
      return json(shell, 'user', 'passwd', 'dina', '--password-stdin');
    },
  ],
  [
    'passkey',
    ({ shell, id }) =>
      withStores(shell, ({ passkeys }) =>
        passkeys.add({ ...somePasskey('pass'), accountId: id }, 9),
      ),
  ],
])(
  'an administrator with a %s prevents a link, and the refusal says what to do',
  async (_way, give) => {
    const made = await withDina();
    await give(made);
    const { code, stderr } = await inProcess(made.shell, 'admin', 'link');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'dina is an administrator who can sign in: user recover dina helps if they cannot, and user set NAME --admin adds another\n',
    );
  },
);

test('a hundred administrators who cannot sign in hide none who can', async () => {
  const shell = new TestShell(await newData());
  await withStores(shell, async ({ people }) => {
    for (let n = 0; n < 101; n += 1) {
      const name = `a${String(n).padStart(3, '0')}`;
      const password = n === 100 && { password_hash: 'hash' };
      await people.add({ id: name, name, admin: true, created_at: 0, version: 0, ...password });
    }
  });
  expect((await inProcess(shell, 'admin', 'link')).stderr).toContain('a100 is an administrator');
});

const DORA = { people: [{ name: 'dora', admin: true }] };
test.each([
  ['user set', async (shell: TestShell) => json(shell, 'user', 'set', 'erin', '--admin')],
  [
    'apply',
    async (shell: TestShell) => {
      const file = join(await temporaryFolder(), 'c.json');
      await writeFile(file, JSON.stringify(DORA));
      return json(shell, 'apply', file);
    },
  ],
  [
    'directory import',
    async (shell: TestShell) => {
      const file = join(await temporaryFolder(), 'd.json');
      await json(shell, 'directory', 'export', file);
      const content = JSON.parse(await readFile(file, 'utf8')) as typeof DORA;
      for (const person of content.people) person.admin = true;
      await writeFile(file, JSON.stringify(content));
      return json(shell, 'directory', 'import', file);
    },
  ],
])('a link ends permanently when %s makes an administrator', async (_command, run) => {
  const shell = new TestShell(await newData());
  await json(shell, 'user', 'invite', 'erin');
  const made = await make(shell);
  await run(shell);
  expect(await isGood(shell, made)).toBe(false);
});
