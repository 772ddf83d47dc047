import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import { type Ended, inProcess, newData, TestShell } from '../cli.fixture.ts';
import { lockPrivate } from '../files/private-file.ts';
import { listen, type Reply } from '../listen.fixture.ts';
import { CODE, granted } from '../oauth/authorization-server.fixture.ts';
import { LOGIN } from '../oauth/login.fixture.ts';
import { loginPath, writeLogin } from '../oauth/login-file.ts';
import { walletUser } from '../private-token/wallet-user.fixture.ts';
import { events } from '../push/service.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

/**
 * Characters that move the cursor, begin a line or reverse text: C0, DEL, C1, bidi and Unicode line ends.
 */
const HOSTILE = 'x\u001b[2J\u009b2J\u007f\r\nforged\u2028forged\u2029\u0085\u202e\u2066\u200f';
/** The hostile characters that a field can contain: its octets are Latin-1 (RFC 9110 section 5.5). */
const FIELD = 'x\u009b2J\u0085forged';
/** Content may have line ends. */
const CONTENT = HOSTILE.replaceAll(/[\r\n]/g, '');
const ERROR: Reply = { status: 400, body: { error: HOSTILE, error_description: HOSTILE } };
/** Line ends, and the sequences with which our own output erases and colours. */
const OURS = ['\n', '\r\u001b[2K', '\u001b[0m', '\u001b[38;5;231;48;5;16m'];

function expectHarmless({ stdout, stderr }: Omit<Ended, 'code'>): void {
  for (const text of [stdout, stderr]) {
    const theirs = OURS.reduce((rest, own) => rest.replaceAll(own, ''), text);
    expect(theirs).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    expect(text).not.toMatch(/^forged/m);
  }
}

/** One server in all roles. `answers` by path override the default answers. */
async function everything(answers: Readonly<Record<string, Reply>>) {
  return listen(({ url = '', authorization }, origin) => {
    const own: Readonly<Record<string, Reply>> = {
      '/.well-known/oauth-authorization-server': {
        body: {
          issuer: origin,
          device_authorization_endpoint: `${origin}/device`,
          token_endpoint: `${origin}/token`,
          userinfo_endpoint: `${origin}/userinfo`,
          revocation_endpoint: `${origin}/revoke`,
        },
      },
      '/.well-known/oauth-protected-resource/r/': {
        body: { resource: `${origin}/r/`, authorization_servers: [origin] },
      },
      '/device': { body: CODE },
      '/token': granted(),
      '/userinfo': { body: { sub: HOSTILE, preferred_username: HOSTILE } },
      '/revoke': ERROR,
    };
    const answer = answers[url] ?? own[url];
    if (answer) return answer;
    if (authorization !== undefined) return { body: 'ok' };
    const place = `${origin}/.well-known/oauth-protected-resource/r/`;
    return {
      status: 401,
      fields: { 'www-authenticate': `DPoP resource_metadata="${place}"` },
    };
  });
}

/**
 * The shell of a person who is logged in at this server, with a private key in a file; on a terminal or
 * not.
 */
async function user(origin: string, login: object = {}) {
  const { COUNTERSIGN_DATA } = await newData();
  const shell = new TestShell({
    COUNTERSIGN_DATA,
    HOME: COUNTERSIGN_DATA,
    COUNTERSIGN_ISSUER: origin,
    COUNTERSIGN_CLIENT_SECRET: 'the secret',
  });
  const path = loginPath(shell.env) ?? '';
  const kept = { ...LOGIN, issuer: origin, resource: `${origin}/r/`, ...login };
  await lockPrivate(path, shell, () => writeLogin(path, kept, shell.random));
  await withStores(shell, ({ clients }) =>
    clients.add({
      client_id: 'machine',
      client_name: 'Machine',
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
      secret_hash: 'hash',
      scope: 'documents:read',
      created_at: 0,
    }),
  );
  const key = join(COUNTERSIGN_DATA, 'key.json');
  const { privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'Ed25519' };
  await writeFile(key, JSON.stringify(jwk));
  return { shell, key };
}

const json = (body: object): Reply => ({ body });
const AS = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource/r/';
const SAYS_WHO = new UnsecuredJWT({ acr: HOSTILE, amr: [HOSTILE], aud: HOSTILE }).encode();
const ENDED = { expires_at: 0 };
const challenge = (status: number, text: string): Reply => ({
  status,
  fields: { 'www-authenticate': text },
  body: CONTENT,
});

type Case = readonly [
  command: string,
  where: string,
  answers: Readonly<Record<string, Reply>>,
  login?: object,
];

describe.each([true, false])('hostile text of a server, on a terminal: %s', (terminal) => {
  test.each<Case>([
    ['login --issuer ORIGIN', 'an error', { '/device': ERROR }],
    ['login --issuer ORIGIN', 'another issuer', { [AS]: json({ issuer: HOSTILE }) }],
    ['login --issuer ORIGIN', 'no JSON', { [AS]: { body: HOSTILE } }],
    [
      'login --issuer ORIGIN',
      'a code and links',
      {
        '/device': json({
          ...CODE,
          user_code: HOSTILE,
          verification_uri: `https://a.example/${HOSTILE}`,
          verification_uri_complete: `https://a.example/${HOSTILE}`,
        }),
      },
    ],
    ['login --issuer ORIGIN', 'an error of a poll', { '/token': ERROR }],
    ['login --issuer ORIGIN', 'a type of token', { '/token': granted({ token_type: HOSTILE }) }],
    [
      'login --issuer ORIGIN',
      'scopes and an audience, and no end of the earlier login',
      { '/token': granted({ scope: HOSTILE, access_token: SAYS_WHO }) },
    ],
    ['login ORIGIN/r/', 'a resource', { [RESOURCE]: json({ resource: HOSTILE }) }],
    [
      'login ORIGIN/r/',
      'an authorization server',
      { [RESOURCE]: json({ resource: 'ORIGIN/r/', authorization_servers: [HOSTILE] }) },
    ],
    ['login ORIGIN/r/', 'a challenge', { '/r/': challenge(401, `DPoP realm="${FIELD}"`) }],
    ['whoami', 'a name', {}],
    ['whoami', 'claims of the token', {}, { access_token: SAYS_WHO, scope: HOSTILE }],
    ['whoami', 'an error of a refresh', { '/token': ERROR }, ENDED],
    ['logout', 'an error of a revocation', {}],
    ['token get machine', 'an error', { '/token': ERROR }],
    ['token get machine', 'a token', { '/token': json({ access_token: HOSTILE }) }],
    ['request GET ORIGIN/r/', 'content, with an error of a refresh', { '/token': ERROR }, ENDED],
    ['request GET ORIGIN/r/', 'a resource', { [RESOURCE]: json({ resource: HOSTILE }) }],
    [
      'request GET ORIGIN/r/',
      'a challenge for another login',
      {
        '/r/': challenge(
          401,
          `DPoP error="insufficient_user_authentication", acr_values="${FIELD}"`,
        ),
      },
    ],
    [
      'gnap request GET ORIGIN/r/ --key KEY',
      'a place of its server',
      { '/r/': challenge(401, `GNAP as_uri="ORIGIN/${FIELD}", access="${FIELD}"`) },
    ],
    [
      'gnap request GET ORIGIN/r/ --key KEY',
      'an error',
      {
        '/r/': challenge(401, 'GNAP as_uri="ORIGIN/gnap", access="a", referrer="ORIGIN/r/"'),
        '/gnap': json({ error: { code: HOSTILE, description: HOSTILE } }),
      },
    ],
    [
      'gnap request GET ORIGIN/r/ --key KEY --by code',
      'a link and a code',
      {
        '/r/': challenge(401, 'GNAP as_uri="ORIGIN/gnap", access="a", referrer="ORIGIN/r/"'),
        '/gnap': json({
          interact: {
            redirect: `https://a.example/${HOSTILE}`,
            user_code_uri: { code: HOSTILE, uri: HOSTILE },
          },
        }),
      },
    ],
    ['push ORIGIN/r/', 'a refusal', { '/r/subscribe': { status: 403, body: { detail: HOSTILE } } }],
    [
      'push ORIGIN/r/',
      'a place of the subscription',
      {
        '/r/subscribe': {
          status: 201,
          fields: { location: `/${FIELD}`, link: `</${FIELD}>; rel="urn:ietf:params:push"` },
        },
      },
    ],
    [
      'push ORIGIN/r/',
      'a message',
      {
        '/r/subscribe': {
          status: 201,
          fields: { location: '/r/s', link: '</r/p>; rel="urn:ietf:params:push"' },
        },
        '/r/s': events({ url: HOSTILE, type: HOSTILE, coding: HOSTILE, body: HOSTILE }),
      },
    ],
  ])('%s: %s', async (...[command, , answers, login]: Case) => {
    const changed: Record<string, Reply> = {};
    const server = await everything(changed);
    for (const [path, answer] of Object.entries(answers)) {
      changed[path] = JSON.parse(
        JSON.stringify(answer).replaceAll('ORIGIN', server.origin),
      ) as Reply;
    }
    const { shell, key } = await user(server.origin, login);
    shell.terminal = terminal;
    shell.columns = terminal ? 200 : 0;
    const words = command.split(' ').map((word) => {
      return word.replace('ORIGIN', server.origin).replace('KEY', key);
    });
    const ended = await inProcess(shell, ...words);
    expect(server.received.map(({ url }) => url)).toEqual(
      expect.arrayContaining(Object.keys(answers)),
    );
    // Content of a resource is passed to a program unchanged.
    const isContent = command.startsWith('request') && !terminal;
    expectHarmless(isContent ? { ...ended, stdout: '' } : ended);
  });

  describe('PrivateToken', () => {
    const wallet = walletUser();
    const run = async (command: 'get' | 'redeem') => {
      wallet.parties.shell.terminal = terminal;
      const ended = await wallet[command]();
      expect(wallet.parties.site.received.length).toBeGreaterThan(0);
      const isContent = command === 'redeem' && !terminal;
      expectHarmless(isContent ? { ...ended, stdout: '' } : ended);
    };

    test.each(['get', 'redeem'] as const)(
      'private-token %s: a hostile directory',
      async (command) => {
        wallet.parties.behaviour.directory = (right) => ({
          ...right,
          body: { 'issuer-request-uri': HOSTILE, 'token-keys': [HOSTILE] },
        });
        await run(command);
        wallet.parties.behaviour.directory = () => ({
          fields: { 'content-type': FIELD },
          body: '{}',
        });
        await run(command);
      },
    );

    test.each(['get', 'redeem'] as const)('private-token %s: a hostile issuer', async (command) => {
      wallet.parties.behaviour.response = () => ({ status: 403, body: { detail: HOSTILE } });
      await run(command);
      wallet.parties.behaviour.authorizationServers = [`https://a.example/${HOSTILE}`];
      await run(command);
    });

    test.each(['get', 'redeem'] as const)('private-token %s: a hostile site', async (command) => {
      wallet.parties.behaviour.challenge = () => `PrivateToken challenge="${FIELD}"`;
      await run(command);
    });

    test('private-token redeem: hostile content', async () => {
      wallet.parties.behaviour.content = CONTENT;
      await run('redeem');
    });
  });
});
