import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { generateVoprfKey } from '#shared/private-token/voprf.ts';
import { cli, inProcess, json, TestShell } from '../cli.fixture.ts';
import type { Received, Reply } from '../listen.fixture.ts';
import { sent } from '../oauth/authorization-server.fixture.ts';
import {
  ACCESS_TOKEN,
  type Behaviour,
  type Parties,
  startParties,
} from '../private-token/parties.fixture.ts';

let parties: Parties;
let file: string;
beforeEach(async () => {
  parties = await startParties();
  file = join(parties.shell.env['HOME'] ?? '', '.config/countersign/private-tokens.json');
});

const get = (...more: readonly string[]) =>
  inProcess(parties.shell, 'private-token', 'get', parties.url, ...more);
const getJson = (...more: readonly string[]) =>
  json(parties.shell, 'private-token', 'get', parties.url, ...more);
const redeem = (...more: readonly string[]) =>
  inProcess(parties.shell, 'private-token', 'redeem', parties.url, ...more);
const kept = async () =>
  (JSON.parse(await readFile(file, 'utf8')) as { tokens: { token: string }[] }).tokens;
const requested = () =>
  parties.issuer.received.filter(({ line }) => line === 'POST /private-token/request');
const redeemed = () => parties.site.received.flatMap(({ authorization }) => authorization ?? []);

describe('private-token get', () => {
  test('RFC 9577 section 2.1.4: tokens for later, of the type that the site names first', async () => {
    const { issuer, site, as, url } = parties;
    const expires_at = parties.shell.clock.now() + 600_000;
    expect(await getJson('--count', '3')).toEqual({
      url,
      type: 'blind-rsa-2048',
      count: 3,
      expires_at,
      file,
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
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test.each(['blind-rsa-2048', 'voprf-p384'])('--type %s', async (type) => {
    expect(await getJson('--type', type)).toMatchObject({ type, count: 1 });
    expect(await redeem()).toMatchObject({ code: 0, stdout: 'welcome' });
  });

  test('in words, on standard output', async () => {
    const { stdout } = await get('--count', '2');
    const { host } = new URL(parties.site.origin);
    expect(stdout).toContain(`2 of 2 tokens for ${host}, kept in ${file}\n`);
    expect(stdout).toContain(`person-1, signed in at ${parties.as.origin} with client demo-device`);
    expect(stdout).toContain('which site they are for');
    expect(stdout).toContain('Both see the address of this machine');
    for (const { token } of await kept()) expect(stdout).not.toContain(token);
  });

  test('one device login (RFC 8628) for all, for this scope at this resource, ended at once', async () => {
    await get('--count', '3', '--client', 'tv');
    const resource = `${parties.issuer.origin}/private-token/request`;
    const asked = { client_id: 'tv', scope: 'private-token', resource };
    expect(sent(parties.as, '/device/auth')).toEqual([asked]);
    expect(sent(parties.as, '/token/revocation')).toHaveLength(1);
    expect(requested().map(({ authorization }) => authorization)).toEqual([
      undefined,
      ...Array.from({ length: 3 }, () => `DPoP ${ACCESS_TOKEN}`),
    ]);
    await expect(stat(file.replace('private-tokens', 'login'))).rejects.toThrow('ENOENT');
  });

  test('a kept login for the issuer is used, and stays', async () => {
    const resource = `${parties.issuer.origin}/private-token/request`;
    const { shell, as } = parties;
    const grant = ['--scope', 'private-token', '--resource', resource];
    await json(shell, 'login', '--issuer', as.origin, ...grant);
    const login = file.replace('private-tokens', 'login');
    const members = JSON.parse(await readFile(login, 'utf8')) as object;
    await writeFile(login, JSON.stringify({ ...members, resource, scope: 'private-token' }));
    expect(await get()).toMatchObject({ code: 0 });
    expect(sent(as, '/device/auth')).toHaveLength(1);
    expect(sent(as, '/token/revocation')).toEqual([]);
  });

  test('a kept login for something else is not shown to the issuer', async () => {
    const { shell, as } = parties;
    await json(shell, 'login', '--issuer', as.origin, '--resource', 'https://api.example/');
    expect(await get()).toMatchObject({ code: 0 });
    expect(sent(as, '/device/auth')).toHaveLength(2);
    expect(await json(shell, 'whoami')).toMatchObject({ resource: 'https://api.example/' });
  });

  test('an issuer that wants to sign people in elsewhere gets nobody', async () => {
    parties.behaviour.authorizationServers = ['https://phishing.example'];
    const { code, stderr } = await get();
    expect([code, stderr]).toEqual([1, expect.stringContaining('https://phishing.example')]);
    expect(sent(parties.as, '/device/auth')).toEqual([]);
  });

  test.each([
    ['--count', '0'],
    ['--count', '101'],
    ['--type', 'rsa'],
  ])('%s %s is a mistake, noticed before anybody is asked', async (...args) => {
    expect((await get(...args)).code).toBe(2);
    expect(parties.site.received).toEqual([]);
  });

  test.each(['ftp://localhost/', 'http://site.example/', 'https://a@site.example/', 'site'])(
    '%s is nothing that tokens are sent to',
    async (url) => {
      expect((await inProcess(parties.shell, 'private-token', 'get', url)).code).toBe(2);
    },
  );

  test('RFC 6585 section 4: a quota that ends halfway leaves what was got, and says so', async () => {
    let left = 2;
    parties.behaviour.response = (right) =>
      (left -= 1) < 0 ? { status: 429, fields: { 'retry-after': '60' } } : right;
    const { code, stdout } = await get('--count', '5');
    expect([code, stdout]).toEqual([1, expect.stringContaining('2 of 5 tokens')]);
    expect(stdout).toContain('try again in 60 s');
    expect(await kept()).toHaveLength(2);
  });
});

describe('private-token redeem', () => {
  test('RFC 9577 section 2.2.2: one token of the wallet, and the issuer hears nothing', async () => {
    await get('--count', '2');
    const before = parties.issuer.received.length;
    const [first] = await kept();
    const { code, stdout, stderr } = await redeem();
    expect([code, stdout]).toEqual([0, 'welcome']);
    expect(stderr).toContain('HTTP 200\n');
    expect(stderr).toContain('vouches for whoever sent the token');
    expect(parties.issuer.received).toHaveLength(before);
    expect(redeemed()).toEqual([`PrivateToken token="${first?.token}"`]);
    expect(await kept()).toHaveLength(1);
    expect(stderr).not.toContain(first?.token);
  });

  test('--json', async () => {
    await get();
    const { site, issuer } = parties;
    expect(await json(parties.shell, 'private-token', 'redeem', parties.url)).toEqual({
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

  test('without one in the wallet: gets one, which is not kept', async () => {
    expect(await redeem()).toMatchObject({ code: 0, stdout: 'welcome' });
    await expect(stat(file)).rejects.toThrow('ENOENT');
    expect(requested()).toHaveLength(2);
  });

  test('RFC 9578 section 4: a token of a key that is still in the directory, behind a newer', async () => {
    await get('--type', 'voprf-p384');
    const [rsa, old] = parties.behaviour.keys;
    if (rsa === undefined || old === undefined) throw new Error('two keys');
    parties.behaviour.keys = [rsa, generateVoprfKey(), old];
    const before = requested().length;
    const answer = await json(parties.shell, 'private-token', 'redeem', parties.url);
    expect(answer).toMatchObject({ status: 200, learned: { issuer: { asked: 'keys' } } });
    expect(requested()).toHaveLength(before);
  });

  test('a token of a key that is gone stays where it is; another is got', async () => {
    await get('--type', 'voprf-p384');
    const [rsa] = parties.behaviour.keys;
    parties.behaviour.keys = [rsa, generateVoprfKey()].filter((key) => key !== undefined);
    expect(await redeem()).toMatchObject({ code: 0, stdout: 'welcome' });
    expect(await kept()).toHaveLength(1);
  });

  test('RFC 9577 section 2.1.4: a token for another context is not sent', async () => {
    await get();
    parties.behaviour.members = { context: Buffer.alloc(32, 7) };
    const [before] = await kept();
    expect(await redeem()).toMatchObject({ code: 0 });
    expect(redeemed()).not.toContain(`PrivateToken token="${before?.token}"`);
    expect(await kept()).toEqual([before]);
  });

  test('section 2.1.2: a token past its max-age is not sent, and forgotten', async () => {
    await get();
    const [old] = await kept();
    parties.shell.clock.advance(600);
    await redeem();
    expect(redeemed()).not.toContain(`PrivateToken token="${old?.token}"`);
    await get();
    expect(await kept()).not.toContainEqual(old);
  });

  test('a token that the site refuses is gone: nobody sends it again', async () => {
    await get();
    const [sentOnce] = await kept();
    const { shell, url } = parties;
    await inProcess(shell, 'private-token', 'redeem', url);
    await writeFile(file, JSON.stringify({ tokens: [sentOnce] }), { mode: 0o600 });
    const { code, stderr } = await redeem();
    expect([code, stderr]).toEqual([1, expect.stringContaining('The site did not take it.')]);
    expect(await kept()).toEqual([]);
  });

  test('ten at once, two of them processes of their own: each its own token', async () => {
    await get('--count', '10');
    const { env } = parties.shell;
    const here = async () => {
      const shell = new TestShell(env);
      shell.wait = async (milliseconds) => setTimeout(milliseconds);
      return inProcess(shell, 'private-token', 'redeem', parties.url);
    };
    const elsewhere = async () => cli(['private-token', 'redeem', parties.url], env);
    const running = [elsewhere(), elsewhere(), ...Array.from({ length: 8 }, here)];
    const ended = await Promise.all(running);
    expect(ended.map(({ stdout }) => stdout)).toEqual(running.map(() => 'welcome'));
    expect(new Set(redeemed()).size).toBe(10);
    expect(await kept()).toEqual([]);
  }, 30_000);

  test('a site that asks for nothing gets no token', async () => {
    await get();
    const before = await kept();
    const url = `${parties.as.origin}/.well-known/oauth-authorization-server`;
    const { code, stderr } = await inProcess(parties.shell, 'private-token', 'redeem', url);
    expect([code, stderr]).toEqual([0, expect.stringContaining('asked for no token')]);
    expect(await kept()).toEqual(before);
  });
});

describe('who cheats gets no sign-in, and the site no token', () => {
  const big = 'x'.repeat(70_000);

  test.each<[string, Partial<Behaviour>, string]>([
    [
      'RFC 9576 section 6.2: a site with a key of its own for this visitor',
      { siteKey: generateVoprfKey().publicKey },
      'could be there to recognise you',
    ],
    [
      'RFC 9577 section 2.1.3: a challenge of another site, passed on',
      { members: { origins: ['other.example'] } },
      'for other.example, not for',
    ],
    [
      'an issuer that is not there',
      { members: { issuer: 'localhost:1' } },
      'no answer from https://localhost:1',
    ],
    ['a field of 64 KiB', { challenge: () => big }, 'no answer from'],
    ['no challenge', { challenge: () => 'Basic realm="members"' }, 'none asks for a PrivateToken'],
    [
      'a directory without end',
      { directory: (right) => ({ ...right, body: big }) },
      'no answer from',
    ],
    [
      'a directory that is elsewhere',
      { directory: () => ({ status: 302, fields: { location: 'https://evil.example/' } }) },
      'answers 302',
    ],
    [
      'a directory of another type',
      { directory: ({ body = '' }) => ({ body, fields: { 'content-type': 'text/html' } }) },
      'answers with text/html',
    ],
    [
      'a directory that names a request URL elsewhere',
      {
        directory: ({ fields = {} }) => ({
          fields,
          body: { 'issuer-request-uri': 'https://evil.example/', 'token-keys': [] },
        }),
      },
      'not at the https origin of the directory',
    ],
  ])('%s', async (_, behaviour, message) => {
    Object.assign(parties.behaviour, behaviour);
    for (const command of [get, redeem]) {
      const { code, stderr } = await command();
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    expect(sent(parties.as, '/device/auth')).toEqual([]);
    expect(redeemed()).toEqual([]);
  });

  test.each<[string, (right: Reply) => Reply]>([
    ['wrong', (right) => ({ ...right, body: Buffer.alloc(256, 1) })],
    ['without end', (right) => ({ ...right, body: big })],
    ['a redirect', () => ({ status: 307, fields: { location: 'https://evil.example/' } })],
  ])(
    'RFC 9578 section 6.3: an answer of the issuer that is %s; the login ends',
    async (_, response) => {
      parties.behaviour.response = response;
      for (const command of [get, redeem]) expect((await command()).code).toBe(1);
      expect(sent(parties.as, '/token/revocation')).toHaveLength(2);
      expect(redeemed()).toEqual([]);
      await expect(stat(file)).rejects.toThrow('ENOENT');
    },
  );

  test('a wallet that others may read: nobody is asked for anything', async () => {
    await get();
    await chmod(file, 0o644);
    const before = parties.site.received.length;
    for (const command of [get, redeem]) {
      const { code, stderr } = await command();
      expect([code, stderr]).toEqual([
        1,
        `others may read ${file}, which holds secrets: chmod 600 ${file}\n`,
      ]);
    }
    expect(parties.site.received).toHaveLength(before);
  });

  test('what they say cannot move the cursor', async () => {
    parties.behaviour.content = 'a\u001b[2Jb\u202e';
    parties.shell.terminal = true;
    expect((await redeem()).stdout).toContain(String.raw`a\u001b[2Jb\u202e`);

    const fields = { 'content-type': 'text/\u009b2J' };
    parties.behaviour.directory = () => ({ fields, body: '{}' });
    const { stderr } = await cli(['private-token', 'get', parties.url], parties.shell.env);
    expect(stderr).toContain(String.raw`answers with text/\u009b2J`);
  });
});

describe('RFC 9576 section 3.3: neither is told what the other knows', () => {
  const fieldsOf = ({ headers }: Received) => Object.keys(headers).toSorted();

  test('nothing of the site reaches the issuer or who signs people in', async () => {
    await get('--count', '2');
    await redeem();
    const { host, port } = new URL(parties.site.origin);
    for (const { line, body, headers } of [...parties.issuer.received, ...parties.as.received]) {
      const all = `${line} ${JSON.stringify(headers)} ${body}`;
      expect(all).not.toContain('members');
      expect(all).not.toContain(host);
      expect(all).not.toContain(`:${port}`);
    }
  });

  test('nothing but the token reaches the site', async () => {
    await get();
    await redeem();
    const plain = ['connection', 'host', 'user-agent'];
    expect(parties.site.received.map(fieldsOf)).toEqual([
      plain,
      plain,
      ['authorization', ...plain],
    ]);
    for (const { headers, body } of parties.site.received) {
      expect(headers['user-agent']).toBe('countersign');
      expect(body).toBe('');
    }
  });

  test('section 6.2: the directory is fetched by nobody in particular, over another connection', async () => {
    await get();
    const directory = parties.issuer.received.find(({ line }) =>
      line.startsWith('GET /.well-known/private'),
    );
    expect(directory && fieldsOf(directory)).toEqual([
      'accept',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(requested().map(({ port }) => port)).not.toContain(directory?.port);
  });
});
