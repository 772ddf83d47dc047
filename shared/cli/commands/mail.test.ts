import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { startMailServer } from '#shared/mail/smtp.fixture.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const MAIL = { host: 'mail.invalid', from: 'accounts@example.com' };
const VERIFIED = ['--email', 'alice@example.com,verified'];

async function shellWith(settings: object): Promise<TestShell> {
  const file = join(await temporaryFolder(), 'countersign.json');
  await writeFile(file, JSON.stringify(settings));
  return new TestShell({ ...(await newData()), COUNTERSIGN_CONFIG: file });
}

/** The waiting messages. */
const waiting = (shell: TestShell) =>
  withStores(shell, async ({ outbox }) => {
    const now = shell.clock.now();
    const all = await outbox.take(now, now + 1, 10);
    return all.map(({ kind, accountId, to }) => [kind, accountId, to]);
  });

describe('mail test', () => {
  test("sends a message through the mail server, and prints the server's answer", async () => {
    await using smtp = await startMailServer('starttls');
    const shell = await shellWith({ mail: smtp.mail, brand: { name: 'Ex' } });
    const { code, stdout } = await inProcess(shell, 'mail', 'test', 'alice@example.com');
    expect([code, stdout]).toEqual([0, 'to: alice@example.com\nanswer: 250 taken\n']);
    expect(smtp.received).toMatchObject([{ to: 'alice@example.com', secure: true }]);
    expect(smtp.received[0]?.content).toContain('Subject: Ex: test');
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['550 nobody here', { RCPT: '550 nobody here' }],
    ['451 later', { '.': '451 later' }],
    ['535 no', { AUTH: '535 no' }],
  ])('a refusal with %s: exit code 1, and the output has the answer', async (answer, answers) => {
    await using smtp = await startMailServer('implicit');
    smtp.answers = answers;
    const shell = await shellWith({ mail: smtp.mail });
    const { code, stderr } = await inProcess(shell, 'mail', 'test', 'alice@example.com');
    expect([code, stderr]).toEqual([1, expect.stringContaining(answer)]);
    expect(stderr).toContain('localhost:');
  });

  test.each([
    ['no mail server', 'alice@example.com', 1, 'mail is not configured'],
    ['no address', 'alice', 2, 'ADDRESS must be'],
    ['header injection', 'alice@example.com\r\nBcc: x@attacker.example', 2, 'ADDRESS must be'],
  ])('%s: no message is sent', async (_, address, status, sentence) => {
    const { code, stderr } = await inProcess(await shellWith({}), 'mail', 'test', address);
    expect([code, stderr]).toEqual([status, expect.stringContaining(sentence)]);
  });
});

describe('the option --mail', () => {
  test('user recover: the message waits, and no link is printed', async () => {
    const shell = await shellWith({ mail: MAIL });
    const { id } = (await json(shell, 'user', 'add', 'alice', ...VERIFIED)) as { id: string };
    expect(await json(shell, 'user', 'recover', 'alice', '--mail')).toEqual({
      id,
      name: 'alice',
      mailed_to: 'alice@example.com',
    });
    await json(shell, 'user', 'recover', 'alice', '--mail', '--second-factor');
    await json(shell, 'user', 'recover', 'alice', '--mail');
    shell.clock.advance(2);
    const { stdout } = await inProcess(shell, 'audit', 'list', '--kind', 'link.made', '--json');
    expect(stdout.match(/"what":"[^"]*"/g)?.toSorted()).toEqual([
      '"what":"recovery-by-operator"',
      '"what":"recovery-of-everything"',
    ]);
    expect(await waiting(shell)).toEqual([
      ['recovery-by-operator', id, 'alice@example.com'],
      ['recovery-of-everything', id, 'alice@example.com'],
    ]);
  });

  test('user invite: the message is sent to an address that the link verifies', async () => {
    const shell = await shellWith({ mail: MAIL });
    const args = ['user', 'invite', 'alice', '--email', 'alice@example.com', '--mail'];
    const { id } = (await json(shell, ...args)) as { id: string };
    expect(await waiting(shell)).toEqual([['invitation', id, 'alice@example.com']]);
  });

  test.each([
    [
      'recover',
      'somebody without a verified address',
      ['--email', 'alice@example.com'],
      'verified',
    ],
    ['recover', 'somebody disabled', VERIFIED, 'is disabled'],
  ])('user %s: refused for %s', async (verb, _, email, sentence) => {
    const shell = await shellWith({ mail: MAIL });
    await json(shell, 'user', 'add', 'alice', ...email);
    if (sentence === 'is disabled') await json(shell, 'user', 'disable', 'alice');
    const { code, stderr } = await inProcess(shell, 'user', verb, 'alice', '--mail');
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    expect(await waiting(shell)).toEqual([]);
  });

  test('user invite: refused without an address or without mail, and no person is added', async () => {
    const args = ['user', 'invite', 'alice', '--mail'];
    const without = await inProcess(await shellWith({}), ...args, ...VERIFIED);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--mail needs')]);
    const shell = await shellWith({ mail: MAIL });
    const nowhere = await inProcess(shell, ...args);
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('no address')]);
    expect(await json(shell, 'user', 'list')).toEqual([]);
  });
});

describe('user invite without a name', () => {
  const EMAIL = ['--email', 'dora@example.com'];
  const invited = () => shellWith({ mail: MAIL, people: { registration: 'invited' } });

  test('prints a link for 15 minutes with which a person chooses a name, and adds no person', async () => {
    const shell = await invited();
    const { link, expires_at } = (await json(shell, 'user', 'invite', ...EMAIL)) as {
      link: string;
      expires_at: number;
    };
    expect(expires_at).toBe(Math.floor(shell.clock.now() / 1000) + 900);
    const right = await withStores(shell, (stores) =>
      createRegistrationLinks({ stores, random: shell.random }).find(link.split('/').at(-1) ?? ''),
    );
    expect(right).toMatchObject({ address: 'dora@example.com', mailed: false });
    expect(await json(shell, 'user', 'list')).toEqual([]);
  });

  test('with --mail the message waits', async () => {
    const shell = await invited();
    await json(shell, 'user', 'invite', ...EMAIL, '--mail');
    expect(await waiting(shell)).toEqual([
      ['registration-invitation', expect.stringMatching(/^\(nobody\)/), 'dora@example.com'],
    ]);
  });

  test('is refused while people.registration is off', async () => {
    const { code, stderr } = await inProcess(await shellWith({}), 'user', 'invite', ...EMAIL);
    expect([code, stderr]).toEqual([2, expect.stringContaining('people.registration is off')]);
  });

  test.each([
    ['no address', []],
    ['two', [...EMAIL, '--email', 'other@example.com']],
    ['an address and a group', [...EMAIL, '--group', 'staff']],
    ['an address that needs quoting', ['--email', '"x"@example.com']],
  ])('refuses a mistake in its options: %s', async (_, args) => {
    const { code } = await inProcess(await invited(), 'user', 'invite', ...args);
    expect(code).toBe(2);
  });
});
