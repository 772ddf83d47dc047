import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inProcess, json } from '../cli.fixture.ts';
import { sent } from '../oauth/authorization-server.fixture.ts';
import { ACCESS_TOKEN } from '../private-token/parties.fixture.ts';
import { walletUser } from '../private-token/wallet-user.fixture.ts';

const user = walletUser();
const { get, getJson, redeem, kept, requested } = user;

describe('private-token get', () => {
  test("RFC 9577 section 2.1.4: stores tokens for later, of the site's first type", async () => {
    const { issuer, site, as, url } = user.parties;
    const expires_at = user.parties.shell.clock.now() + 600_000;
    expect(await getJson('--count', '3')).toEqual({
      url,
      type: 'blind-rsa-2048',
      count: 3,
      expires_at,
      file: user.file,
      learned: {
        issuer: {
          issuer: new URL(issuer.origin).host,
          asked: 'tokens',
          authorization_server: as.origin,
          client: 'demo-device',
          person: 'person-1',
          count: 3,
          type: 'blind-rsa-2048',
          time: expect.stringMatching(/^2027-.*Z$/),
        },
        site: { site: new URL(site.origin).host, redeemed: 0 },
      },
    });
    expect((await kept()).map((entry) => Object.keys(entry))).toEqual(
      Array.from({ length: 3 }, () => ['token', 'expires_at']),
    );
    expect(new Set((await kept()).map(({ token }) => token)).size).toBe(3);
    expect((await stat(user.file)).mode & 0o777).toBe(0o600);
  });

  test.each(['blind-rsa-2048', 'voprf-p384'])('--type %s', async (type) => {
    expect(await getJson('--type', type)).toMatchObject({ type, count: 1 });
    expect(await redeem()).toMatchObject({ code: 0, stdout: 'welcome' });
  });

  test('prints sentences on standard output', async () => {
    const { stdout } = await get('--count', '2');
    const { host } = new URL(user.parties.site.origin);
    expect(stdout).toContain(`2 of 2 tokens for ${host}, kept in ${user.file}\n`);
    expect(stdout).toContain(
      `person-1, signed in at ${user.parties.as.origin} with client demo-device`,
    );
    expect(stdout).toContain('which site they are for');
    expect(stdout).toContain('Both see the address of this machine');
    for (const { token } of await kept()) expect(stdout).not.toContain(token);
  });

  test('logs in once by device flow (RFC 8628) for this scope and resource, and revokes that login at once', async () => {
    await get('--count', '3', '--client', 'tv');
    const resource = `${user.parties.issuer.origin}/private-token/request`;
    const asked = { client_id: 'tv', scope: 'private-token', resource };
    expect(sent(user.parties.as, '/device/auth')).toEqual([asked]);
    expect(sent(user.parties.as, '/token/revocation')).toHaveLength(1);
    expect(requested().map(({ authorization }) => authorization)).toEqual([
      undefined,
      ...Array.from({ length: 3 }, () => `DPoP ${ACCESS_TOKEN}`),
    ]);
    await expect(stat(user.file.replace('private-tokens', 'login'))).rejects.toThrow('ENOENT');
  });

  test('uses a stored login for the issuer, and keeps it', async () => {
    const resource = `${user.parties.issuer.origin}/private-token/request`;
    const { shell, as } = user.parties;
    const grant = ['--scope', 'private-token', '--resource', resource];
    await json(shell, 'login', '--issuer', as.origin, ...grant);
    const login = user.file.replace('private-tokens', 'login');
    const members = JSON.parse(await readFile(login, 'utf8')) as object;
    await writeFile(login, JSON.stringify({ ...members, resource, scope: 'private-token' }));
    expect(await get()).toMatchObject({ code: 0 });
    expect(sent(as, '/device/auth')).toHaveLength(1);
    expect(sent(as, '/token/revocation')).toEqual([]);
  });

  test('does not send a stored login for another resource to the issuer', async () => {
    const { shell, as } = user.parties;
    await json(shell, 'login', '--issuer', as.origin, '--resource', 'https://api.example/');
    expect(await get()).toMatchObject({ code: 0 });
    expect(sent(as, '/device/auth')).toHaveLength(2);
    expect(await json(shell, 'whoami')).toMatchObject({ resource: 'https://api.example/' });
  });

  test('refuses an issuer that wants people to sign in elsewhere', async () => {
    user.parties.behaviour.authorizationServers = ['https://phishing.example'];
    const { code, stderr } = await get();
    expect([code, stderr]).toEqual([1, expect.stringContaining('https://phishing.example')]);
    expect(sent(user.parties.as, '/device/auth')).toEqual([]);
  });

  test('refuses an issuer that accepts Bearer only, before any person signs in', async () => {
    user.parties.behaviour.bearerAlone = true;
    const { code, stderr } = await get();
    expect([code, stderr]).toEqual([1, expect.stringContaining('takes tokens by Bearer alone')]);
    expect(sent(user.parties.as, '/device/auth')).toEqual([]);
    const sentIn = user.parties.issuer.received.flatMap(({ authorization }) => authorization ?? []);
    expect(sentIn).toEqual([]);
  });

  test.each([
    ['--count', '0'],
    ['--count', '101'],
    ['--type', 'rsa'],
  ])('%s %s is a mistake, reported before any person is asked', async (...args) => {
    expect((await get(...args)).code).toBe(2);
    expect(user.parties.site.received).toEqual([]);
  });

  test.each(['ftp://localhost/', 'http://site.example/', 'https://a@site.example/', 'site'])(
    '%s cannot get tokens',
    async (url) => {
      expect((await inProcess(user.parties.shell, 'private-token', 'get', url)).code).toBe(2);
    },
  );

  test('RFC 6585 section 4: if the quota ends halfway, keeps the tokens so far and says so', async () => {
    let left = 2;
    user.parties.behaviour.response = (right) =>
      (left -= 1) < 0 ? { status: 429, fields: { 'retry-after': '60' } } : right;
    const { code, stdout } = await get('--count', '5');
    expect([code, stdout]).toEqual([1, expect.stringContaining('2 of 5 tokens')]);
    expect(stdout).toContain('try again in 60 s');
    expect(await kept()).toHaveLength(2);
  });
});
