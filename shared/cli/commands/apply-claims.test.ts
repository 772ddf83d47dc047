import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

const WIKI = {
  client_id: 'wiki',
  client_name: 'Wiki',
  grant_types: ['authorization_code'],
  redirect_uris: ['https://wiki.example/back'],
  token_endpoint_auth_method: 'none',
  scope: 'openid',
};
const RULES = ['role=admin if group admins', 'role=user', 'unit=attribute department'];
const KEPT = ['role="admin" if group "admins"', 'role="user"', 'unit=attribute department'];
const ATTRIBUTES = [{ name: 'department', value: 'research' }];

const wiki = (more: object) => ({ clients: [{ ...WIKI, ...more }] });
const ruled = (...claim_rules: readonly unknown[]) => wiki({ claim_rules });
const alice = (attributes: unknown) => ({ people: [{ name: 'alice', profile: { attributes } }] });

let shell: TestShell;
let file: string;
beforeEach(async () => {
  shell = new TestShell(await newData());
  file = join(await temporaryFolder(), 'declared.json');
});

async function applied(content: object) {
  await writeFile(file, JSON.stringify(content));
  return inProcess(shell, 'apply', file);
}

describe('apply', () => {
  test('sets the rules of a client and the attributes of a person; a second run changes nothing', async () => {
    const content = { ...ruled(...RULES), ...alice(ATTRIBUTES) };
    expect((await applied(content)).code).toBe(0);
    expect(await json(shell, 'client', 'show', 'wiki')).toMatchObject({ claim_rules: KEPT });
    expect(await json(shell, 'user', 'show', 'alice')).toMatchObject({ attributes: ATTRIBUTES });
    expect((await applied(content)).stdout).toBe('Nothing to change.\n');
    // The order of rules matters, since the first match counts.
    const turned = [RULES[2], RULES[0], RULES[1]];
    expect((await applied({ ...content, ...ruled(...turned) })).code).toBe(0);
    const { claim_rules } = (await json(shell, 'client', 'show', 'wiki')) as typeof KEPT & {
      claim_rules: readonly string[];
    };
    expect(claim_rules).toEqual([KEPT[2], KEPT[0], KEPT[1]]);
  });

  test('removes rules and attributes that the file no longer has', async () => {
    await applied({ ...ruled(...RULES), ...alice(ATTRIBUTES) });
    await applied({ ...wiki({}), people: [{ name: 'alice', profile: {} }] });
    expect(await json(shell, 'client', 'show', 'wiki')).not.toHaveProperty('claim_rules');
    expect(await json(shell, 'user', 'show', 'alice')).not.toHaveProperty('attributes');
  });

  test('a note has the names in rules that neither the file nor the store has', async () => {
    const content = wiki({
      allow_people: ['alice', 'bob', 'ghost'],
      claim_rules: ['a=b if person eve'],
    });
    await json(shell, 'user', 'add', 'bob');
    const people = [{ name: 'alice' }];
    await writeFile(file, JSON.stringify({ ...content, people }));
    for (const options of [['--dry-run'], []]) {
      const { code, stderr } = await inProcess(shell, 'apply', file, ...options);
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(
          /^Note: client wiki: rules of the client name people who do not exist: ghost, eve\./,
        ),
      ]);
    }
    expect((await applied(wiki({ allow_people: ['alice'] }))).stderr).not.toContain('Note');
  });

  test('a note warns of a client without PKCE and nonce', async () => {
    const { token_endpoint_auth_method: _, ...confidential } = WIKI;
    const client = { ...confidential, secret_hash: 'A'.repeat(43), pkce: 'off' };
    const { code, stderr } = await applied({ clients: [client] });
    expect([code, stderr]).toEqual([0, expect.stringContaining('Note: client wiki: without PKCE')]);
  });

  test('takes what export writes', async () => {
    await applied({ ...ruled(...RULES), ...alice(ATTRIBUTES) });
    const declared = `${file}.declared`;
    await json(shell, 'directory', 'export', declared, '--declared');
    const exported = JSON.parse(await readFile(declared, 'utf8')) as { clients: object[] };
    expect(exported.clients).toContainEqual(expect.objectContaining({ claim_rules: KEPT }));
    const { stdout } = await inProcess(shell, 'apply', declared);
    expect(stdout).toBe('Nothing to change.\n');
  });

  test.each([
    ['a reserved claim', ruled('role=user', 'sub=root'), 'has sub, by which servers recognise'],
    ['a reserved claim in capitals', ruled('CNF=x'), 'has CNF, by which servers recognise'],
    ['a rule that never counts', ruled('role=a', 'role=b'), 'never counts'],
    ['no rules', ruled(), 'at least 1'],
    ['65 rules', ruled(...Array.from({ length: 65 }, (_, n) => `c${n}=x`)), 'at most 64'],
    [
      'claims that are too long',
      ruled(...Array.from({ length: 32 }, (_, n) => `c${n}=attribute a`)),
      '8192 octets',
    ],
    [
      '65 attributes',
      alice(Array.from({ length: 65 }, (_, n) => ({ name: `a${n}`, value: 'x' }))),
      'at most 64',
    ],
    ['a value that is too long', alice([{ name: 'a', value: 'x'.repeat(257) }]), '1 to 256 octets'],
    ['an attribute twice', alice([...ATTRIBUTES, ...ATTRIBUTES]), 'once'],
  ])('refuses %s, and changes nothing', async (_, content, mistake) => {
    const { code, stderr } = await applied(content);
    expect([code, stderr]).toEqual([1, expect.stringContaining(mistake)]);
    expect(await json(shell, 'client', 'list')).not.toContainEqual(
      expect.objectContaining({ client_id: 'wiki' }),
    );
    expect((await inProcess(shell, 'user', 'show', 'alice')).code).toBe(1);
  });
});
