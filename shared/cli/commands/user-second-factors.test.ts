import { writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

let shell: TestShell;
/**
 * Staff must have a second factor. Staff members: code has a second factor; key has a passkey; former has a
 * passkey for another domain; bare has none. guest has none and needs none.
 */
beforeEach(async () => {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  await writeFile(file, '{"people":{"secondFactor":{"required":["staff"]}}}');
  shell = new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
  const ids = new Map<string, string>();
  for (const name of ['code', 'key', 'former', 'bare', 'guest']) {
    const group = name === 'guest' ? [] : ['--group', 'staff'];
    const { id } = (await json(shell, 'user', 'add', name, ...group)) as { id: string };
    ids.set(name, id);
  }
  const of = (name: string) => ids.get(name) ?? '';
  await withStores(shell, async ({ passkeys, secondFactors }) => {
    await secondFactors.add({ ...someSecondFactor(of('code')), created_at: 60_000 });
    await passkeys.add({ ...somePasskey('a'), accountId: of('key'), rpId: 'localhost' }, 2);
    await passkeys.add({ ...somePasskey('b'), accountId: of('former'), rpId: 'old.example' }, 2);
  });
});

describe('user list', () => {
  test('shows second factors, valid passkeys, and people who must set up a second factor', async () => {
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { name: 'bare', second_factor: false, passkeys: 0, lacks_second_factor: true },
      { name: 'code', second_factor: true, passkeys: 0, lacks_second_factor: false },
      { name: 'former', second_factor: false, passkeys: 0, lacks_second_factor: true },
      { name: 'guest', second_factor: false, passkeys: 0, lacks_second_factor: false },
      { name: 'key', second_factor: false, passkeys: 1, lacks_second_factor: false },
    ]);
    const { stdout } = await inProcess(shell, 'user', 'list');
    expect(stdout).toMatch(/ code +\(second factor\)$/m);
    expect(stdout).toMatch(/ key +\(1 passkey\)$/m);
    expect(stdout).toMatch(/ bare +\(must set up a second factor\)$/m);
    expect(stdout).toMatch(/ guest$/m);
  });

  test('--lacking-second-factor lists only people who lack a required second factor', async () => {
    const args = ['user', 'list', '--lacking-second-factor'];
    expect(await json(shell, ...args)).toMatchObject([{ name: 'bare' }, { name: 'former' }]);
    for (const name of ['bare', 'former']) await json(shell, 'user', 'remove', name);
    expect(await json(shell, ...args)).toEqual([]);
    expect((await inProcess(shell, ...args)).stdout).toBe('Nobody lacks a second factor.\n');
  });
});

describe('user show', () => {
  const lineOf = async (name: string) =>
    /^second factor: .*$/m.exec((await inProcess(shell, 'user', 'show', name)).stdout)?.[0];

  test('shows the second factor and the number of recovery codes, but no secret', async () => {
    expect(await json(shell, 'user', 'show', 'code')).toMatchObject({
      second_factor: { created_at: 60_000, recovery_codes: 2 },
      lacks_second_factor: false,
    });
    expect(await lineOf('code')).toBe(
      'second factor: since 1970-01-01T00:01Z, never used, recovery codes left: 2',
    );
    const { stdout } = await inProcess(shell, 'user', 'show', 'code', '--json');
    const { sealed, recovery } = someSecondFactor('code');
    for (const secret of [sealed, ...recovery]) expect(stdout).not.toContain(secret);
  });

  test('shows that there is none, and whether one is required', async () => {
    expect(await lineOf('guest')).toBe('second factor: none');
    expect(await lineOf('bare')).toContain('one is demanded');
    expect(await json(shell, 'user', 'show', 'former')).toMatchObject({
      passkeys: 1,
      lacks_second_factor: true,
    });
  });
});
