import { stat, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { cli, inProcess, json, TestShell } from '../cli.fixture.ts';
import { walletUser } from '../private-token/wallet-user.fixture.ts';

const user = walletUser();
const { get, redeem, kept, requested, redeemed } = user;

describe('private-token redeem', () => {
  test('RFC 9577 section 2.2.2: spends one token of the wallet, without a request to the issuer', async () => {
    await get('--count', '2');
    const before = user.parties.issuer.received.length;
    const [first] = await kept();
    const { code, stdout, stderr } = await redeem();
    expect([code, stdout]).toEqual([0, 'welcome']);
    expect(stderr).toContain('HTTP 200\n');
    expect(stderr).toContain('vouches for whoever sent the token');
    expect(user.parties.issuer.received).toHaveLength(before);
    expect(redeemed()).toEqual([`PrivateToken token="${first?.token}"`]);
    expect(await kept()).toHaveLength(1);
    expect(stderr).not.toContain(first?.token);
  });

  test('--json', async () => {
    await get();
    const { site, issuer } = user.parties;
    expect(await json(user.parties.shell, 'private-token', 'redeem', user.parties.url)).toEqual({
      status: 200,
      redeemed: true,
      body: 'welcome',
      learned: {
        issuer: { issuer: new URL(issuer.origin).host, asked: 'nothing' },
        site: {
          site: new URL(site.origin).host,
          redeemed: 1,
          vouched_for_by: new URL(issuer.origin).host,
          time: expect.any(String),
        },
      },
    });
  });

  test('without a token in the wallet gets one, and does not store it', async () => {
    expect(await redeem()).toMatchObject({ code: 0, stdout: 'welcome' });
    await expect(stat(user.file)).rejects.toThrow('ENOENT');
    expect(requested()).toHaveLength(2);
  });

  test('without a terminal fails at once, because no person can sign in, and says what to do', async () => {
    user.parties.shell.attended = false;
    const { code, stderr } = await redeem();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`private-token get ${user.parties.url}\n`),
    ]);
    expect(user.parties.as.received.map(({ url }) => url)).not.toContain('/device/auth');
  });

  test('RFC 9578 section 4: spends a token of an older key that is still in the directory', async () => {
    await get('--type', 'voprf-p384');
    const [rsa, old] = user.parties.behaviour.keys;
    if (rsa === undefined || old === undefined) throw new Error('two keys');
    user.parties.behaviour.keys = [rsa, generateVoprfKey(), old];
    const before = requested().length;
    const answer = await json(user.parties.shell, 'private-token', 'redeem', user.parties.url);
    expect(answer).toMatchObject({ status: 200, learned: { issuer: { asked: 'keys' } } });
    expect(requested()).toHaveLength(before);
  });

  test('keeps a token whose key has left the directory, and gets another', async () => {
    await get('--type', 'voprf-p384');
    const [rsa] = user.parties.behaviour.keys;
    user.parties.behaviour.keys = [rsa, generateVoprfKey()].filter((key) => key !== undefined);
    const { code, stdout, stderr } = await redeem();
    expect([code, stdout]).toEqual([0, 'welcome']);
    expect(stderr).toContain('Kept tokens for this site whose key has ended: 1.');
    expect(stderr).toContain('In advance is better');
    expect(await kept()).toHaveLength(1);
  });

  test('RFC 9577 section 2.1.4: sends no token of another context', async () => {
    await get();
    user.parties.behaviour.members = { context: Buffer.alloc(32, 7) };
    const [before] = await kept();
    expect(await redeem()).toMatchObject({ code: 0 });
    expect(redeemed()).not.toContain(`PrivateToken token="${before?.token}"`);
    expect(await kept()).toEqual([before]);
  });

  test('section 2.1.2: sends no token past its max-age, and deletes it', async () => {
    await get();
    const [old] = await kept();
    user.parties.shell.clock.advance(600);
    await redeem();
    expect(redeemed()).not.toContain(`PrivateToken token="${old?.token}"`);
    await get();
    expect(await kept()).not.toContainEqual(old);
  });

  test('deletes a token that the site refuses, so that it is not sent again', async () => {
    await get();
    const [sentOnce] = await kept();
    const { shell, url } = user.parties;
    await inProcess(shell, 'private-token', 'redeem', url);
    await writeFile(user.file, JSON.stringify({ tokens: [sentOnce] }), { mode: 0o600 });
    const { code, stderr } = await redeem();
    expect([code, stderr]).toEqual([1, expect.stringContaining('The site did not take it.')]);
    expect(stderr).toContain('that somebody has sent a token, which it did not take');
    expect(stderr).not.toContain('vouches');
    expect(await kept()).toEqual([]);
  });

  test('RFC 6585 section 4: if the site answers 429 to a token, says when to try again', async () => {
    user.parties.behaviour.busy = (hasToken) => hasToken;
    const { code, stderr } = await redeem();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The site did not take it.\nHTTP 429\nTry again in 7 s.\n'),
    ]);
    const { stdout } = await redeem('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      status: 429,
      redeemed: false,
      learned: { site: { redeemed: 0 } },
    });
  });

  test('sends no token to a site that already answers 429 without a token, and keeps it', async () => {
    await get();
    user.parties.behaviour.busy = () => true;
    const { code, stderr } = await redeem();
    expect([code, stderr]).toEqual([
      1,
      'The site asked for no token.\nHTTP 429\nTry again in 7 s.\n',
    ]);
    expect(redeemed()).toEqual([]);
    expect(await kept()).toHaveLength(1);
  });

  test('RFC 9578 section 5.4: says that the issuer may see the use of a token that only the issuer can verify', async () => {
    for (const [type, told] of [
      ['voprf-p384', true],
      ['blind-rsa-2048', false],
    ] as const) {
      await get('--type', type);
      expect((await redeem()).stderr.includes('Only the issuer can verify')).toBe(told);
    }
  });

  test('ten redemptions at once, two of them in other processes, each spend another token', async () => {
    await get('--count', '10');
    const { env } = user.parties.shell;
    const here = async () => {
      const shell = new TestShell(env);
      shell.wait = async (milliseconds) => setTimeout(milliseconds);
      return inProcess(shell, 'private-token', 'redeem', user.parties.url);
    };
    const elsewhere = async () => cli(['private-token', 'redeem', user.parties.url], env);
    const running = [elsewhere(), elsewhere(), ...Array.from({ length: 8 }, here)];
    const ended = await Promise.all(running);
    expect(ended.map(({ stdout }) => stdout)).toEqual(running.map(() => 'welcome'));
    expect(new Set(redeemed()).size).toBe(10);
    expect(await kept()).toEqual([]);
  });

  test('sends no token to a site that asks for none', async () => {
    await get();
    const before = await kept();
    const url = `${user.parties.as.origin}/.well-known/oauth-authorization-server`;
    const { code, stderr } = await inProcess(user.parties.shell, 'private-token', 'redeem', url);
    expect([code, stderr]).toEqual([0, expect.stringContaining('asked for no token')]);
    expect(await kept()).toEqual(before);
  });
});
