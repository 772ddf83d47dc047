import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { parseToken } from '#shared/private-token/token.ts';
import { CliUser, runProcess } from '../flows/cli-user.ts';
import { type Flow, startFlowOn } from '../flows/flow.ts';
import { atPair, examples } from '../pair/examples.ts';
import type { Person } from '../pair/pair.ts';

interface Wallet {
  readonly tokens: readonly { readonly token: string }[];
}

async function tokensOf(user: CliUser): Promise<readonly string[]> {
  const { tokens } = (await user.kept('private-tokens.json')) as Wallet;
  return tokens.map(({ token }) => token);
}

describe('the command line and PrivateToken (RFC 9577, RFC 9578)', () => {
  let flow: Flow;
  let person: Person;
  let url: string;
  beforeAll(async () => {
    const limits = { privateTokens: { burst: 6, per: 86_400 } };
    flow = await startFlowOn('sqlite', { settings: { device: { interval: 1 }, limits } });
    url = `${flow.pair.resourceTls}/schemes/private-token/`;
  });
  beforeEach(async () => {
    person = await flow.pair.addPerson(`person-${randomUUID()}`);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const newUser = async () => CliUser.start(flow, person);

  test.each(['blind-rsa-2048', 'voprf-p384'])(
    '%s: tokens are fetched in advance and redeemed one by one',
    async (type) => {
      await using user = await newUser();
      const { code, said } = await user.approve([
        'private-token',
        'get',
        url,
        '--count',
        '2',
        '--type',
        type,
      ]);
      expect([code, said]).toEqual([0, expect.stringContaining('2 of 2 tokens')]);
      expect(said).toContain(`${person.id}, signed in at ${flow.pair.issuer}`);
      const bytes = (await tokensOf(user)).map((token) => decodeBase64url(token));
      const parsed = bytes.map((token) => token && parseToken(token));

      for (const left of [1, 0]) {
        const { code: exit, stdout, stderr } = await user.run('private-token', 'redeem', url);
        expect([exit, stderr]).toEqual([0, expect.stringContaining('HTTP 200')]);
        expect(stdout).toContain('anonymous');
        expect(stdout).not.toContain(person.name);
        expect(await tokensOf(user)).toHaveLength(left);
      }

      const logs = [...flow.pair.resources, ...flow.pair.authz].map(({ log }) => log).join('');
      for (const token of parsed) {
        if (token === undefined) throw new Error('not a token');
        for (const secret of [token.nonce, token.authenticator, token.challengeDigest]) {
          for (const encoding of ['hex', 'base64', 'base64url'] as const) {
            expect(logs).not.toContain(secret.toString(encoding));
          }
        }
      }
      const { log } = flow.pair.resources[0] ?? { log: '' };
      expect(log).toContain('/schemes/private-token/');
      expect(log).not.toContain(person.id);
    },
  );

  test('redeem without a terminal does not wait for a sign-in, and says what to do', async () => {
    await using user = await newUser();
    const { code, stderr } = await user.run('private-token', 'redeem', url);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`private-token get ${url}`)]);
    expect(stderr).not.toContain('Waiting for approval');
  });

  test("tokens work at this machine's clear-text origin, too", async () => {
    await using user = await newUser();
    const clear = `${flow.pair.resource}/schemes/private-token/`;
    await user.approve(['private-token', 'get', clear]);
    const { code, stdout } = await user.run('private-token', 'redeem', clear);
    expect([code, stdout]).toEqual([0, expect.stringContaining('anonymous')]);
  });

  test('the commands of docs/how-to/private-token.md fetch five tokens and spend one', async () => {
    await using user = await newUser();
    const [commands = ''] = await examples('docs/how-to/private-token.md', 'sh private-token');
    const [get = [], redeem = []] = atPair(flow.pair, commands)
      .trim()
      .split('\n')
      .map((line) => line.replace('npm run -s cli -- ', '').split(' '));
    expect(await user.approve(get)).toMatchObject({ code: 0 });
    expect(await user.run(...redeem)).toMatchObject({ code: 0 });
    expect(await tokensOf(user)).toHaveLength(4);
  });

  test('/schemes/all/ accepts tokens of the same origin beside other schemes', async () => {
    await using user = await newUser();
    await user.approve(['private-token', 'get', url]);
    const all = `${flow.pair.resourceTls}/schemes/all/`;
    const { code, stdout } = await user.run('private-token', 'redeem', all, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 200,
      learned: { issuer: { asked: 'nothing' } },
    });
  });

  test('tokens that were fetched before the quota ended (429) are kept', async () => {
    await using user = await newUser();
    const { code, said } = await user.approve(['private-token', 'get', url, '--count', '8']);
    expect([code, said]).toEqual([1, expect.stringContaining('6 of 8 tokens')]);
    expect(said).toMatch(
      /answers 429: no more tokens for this person and client now; try again in \d+ s/,
    );
    expect(await tokensOf(user)).toHaveLength(6);
  });

  test('RFC 8628 section 3.5: if the person denies on the page, no token is issued', async () => {
    await using user = await newUser();
    const { code, said } = await user.approve(['private-token', 'get', url], 'deny');
    expect([code, said]).toEqual([1, expect.stringContaining('The request was denied.')]);
    await expect(tokensOf(user)).rejects.toThrow('ENOENT');
  });

  test('five processes at once each spend another token', async () => {
    await using user = await CliUser.start(flow, person, runProcess);
    await user.approve(['private-token', 'get', url, '--count', '5']);
    const ended = await Promise.all(
      Array.from({ length: 5 }, async () => user.run('private-token', 'redeem', url)),
    );
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(await tokensOf(user)).toEqual([]);
  });

  test('the files of the pair contain no token', async () => {
    await using user = await newUser();
    await user.approve(['private-token', 'get', url]);
    const [token = ''] = await tokensOf(user);
    const nonce = parseToken(decodeBase64url(token) ?? Buffer.alloc(0))?.nonce ?? Buffer.alloc(0);
    expect(nonce).toHaveLength(32);
    await user.run('private-token', 'redeem', url);
    const files = await readdir(flow.pair.data, { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) {
      const content = await readFile(join(file.parentPath, file.name));
      for (const encoded of [nonce, nonce.toString('hex'), nonce.toString('base64url')]) {
        expect(content.includes(encoded)).toBe(false);
      }
    }
  });
});
