import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inProcess, newData, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const authorizationServer = (token: object = { access_token: 'at', token_type: 'DPoP' }) =>
  listen(({ url }, origin) =>
    url === '/token'
      ? { body: token }
      : { body: JSON.stringify({ issuer: origin, token_endpoint: `${origin}/token` }) },
  );

/** Answers 401 without a token, and names this authorization server. */
const resourceServer = (issuer: string) =>
  listen(({ url, headers }, origin) => {
    const place = `${origin}/.well-known/oauth-protected-resource/documents/`;
    if (url?.startsWith('/.well-known/')) {
      const resource = `${origin}/documents/`;
      return { body: JSON.stringify({ resource, authorization_servers: [issuer] }) };
    }
    return headers.authorization === 'DPoP at'
      ? { status: 201, body: 'done' }
      : { status: 401, fields: { 'www-authenticate': `DPoP resource_metadata="${place}"` } };
  });

/** A shell whose configuration names the authorization server, with one client in the store. */
async function shellFor(issuer: string, env: NodeJS.ProcessEnv = {}) {
  const data = await newData();
  const shell = new TestShell({
    ...data,
    COUNTERSIGN_ISSUER: issuer,
    COUNTERSIGN_CLIENT_SECRET: 'the secret',
    ...env,
  });
  await withStores(shell, async ({ clients }) =>
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
  return shell;
}

const BASIC = `Basic ${Buffer.from('machine:the+secret').toString('base64')}`;

describe('request', () => {
  test('finds the resource, gets a token, and sends the request with it', async () => {
    const as = await authorizationServer();
    const rs = await resourceServer(as.origin);
    const shell = await shellFor(as.origin, { COUNTERSIGN_CLIENT_ID: 'machine' });
    const file = `${shell.env['COUNTERSIGN_DATA']}.txt`;
    await writeFile(file, 'content');
    const { code, stdout, stderr } = await inProcess(
      shell,
      'request',
      'PUT',
      `${rs.origin}/documents/a`,
      '--data',
      `@${file}`,
    );
    expect([code, stdout, stderr]).toEqual([0, 'done', 'HTTP 201\n']);
    expect(rs.received.at(-1)).toMatchObject({
      line: 'PUT /documents/a',
      authorization: 'DPoP at',
      body: 'content',
    });
    expect(as.received.at(-1)?.authorization).toBe(BASIC);
    expect(as.received.at(-1)?.body).toContain(encodeURIComponent(`${rs.origin}/documents/`));
  });

  test('sends no secret to a resource of another authorization server', async () => {
    const as = await authorizationServer();
    const evil = await authorizationServer();
    const rs = await resourceServer(evil.origin);
    const shell = await shellFor(as.origin);
    const args = ['GET', `${rs.origin}/documents/a`, '--client', 'machine'];
    const { code, stderr } = await inProcess(shell, 'request', ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not accept tokens of')]);
    expect([...as.received, ...evil.received]).toEqual([]);
    expect(rs.received.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
  });

  test('prints an error of the resource, and exits with 1', async () => {
    const rs = await listen(() => ({ status: 404, body: 'nothing here' }));
    const { code, stdout } = await inProcess(
      new TestShell(),
      'request',
      'GET',
      rs.origin,
      '--json',
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: 404, body: 'nothing here' });
  });

  test.each([
    ['an invalid method', ['GET /x', 'https://api.example/'], 2, 'not a method'],
    ['CONNECT', ['CONNECT', 'https://api.example/'], 2, 'not a method'],
    ['a URL in clear to another machine', ['GET', 'http://api.example/'], 2, 'URL must be https'],
    ['a URL with a password', ['GET', 'https://u:p@api.example/'], 2, 'URL must be https'],
    [
      'a field with a line end',
      ['GET', 'https://api.example/', '--header', 'a: b\r\nc: d'],
      2,
      '--header must be',
    ],
    ['a missing file', ['GET', 'https://api.example/', '--data', '@/nowhere'], 1, 'ENOENT'],
  ])('%s is refused before any request', async (_, args, code, message) => {
    expect(await inProcess(new TestShell(), 'request', ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  });

  test('needs a client if the resource asks for a token', async () => {
    const as = await authorizationServer();
    const rs = await resourceServer(as.origin);
    const { code, stderr } = await inProcess(
      await shellFor(as.origin),
      'request',
      'GET',
      `${rs.origin}/documents/`,
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('name a --client')]);
  });
});

/** A JWT with these claims and without a signature. */
const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;

describe('request at a resource that accepts Bearer only', () => {
  /**
   * Names this authorization server, and accepts any token; `dpop`: further members of its metadata or
   * challenge.
   */
  const bearerServer = (issuer: string, dpop: { metadata?: object; challenge?: string } = {}) =>
    listen(({ url, headers }, origin) => {
      const place = `${origin}/.well-known/oauth-protected-resource/documents/`;
      if (url?.startsWith('/.well-known/')) {
        const resource = `${origin}/documents/`;
        const bearer = { bearer_methods_supported: ['header'], ...dpop.metadata };
        return { body: { resource, authorization_servers: [issuer], ...bearer } };
      }
      const challenge = `Bearer scope="a", resource_metadata="${place}"${dpop.challenge ?? ''}`;
      return headers.authorization === undefined
        ? { status: 401, fields: { 'www-authenticate': challenge } }
        : { body: 'done' };
    });

  /** Returns the only request with a token, after `request` with a client whose token has these claims. */
  async function requested(
    claims: (resource: string) => object,
    {
      type = 'Bearer',
      dpop = {},
    }: { type?: string; dpop?: { metadata?: object; challenge?: string } } = {},
  ) {
    const answer: Record<string, string> = { token_type: type };
    const as = await authorizationServer(answer);
    const rs = await bearerServer(as.origin, dpop);
    const token = jwt(claims(`${rs.origin}/documents/`));
    answer['access_token'] = token;
    const shell = await shellFor(as.origin);
    const args = ['GET', `${rs.origin}/documents/a`, '--client', 'machine'];
    const ended = await inProcess(shell, 'request', ...args);
    const asked = as.received.at(-1);
    const used = rs.received.filter(({ authorization }) => authorization !== undefined);
    return { ...ended, token, asked, used };
  }

  test('RFC 6750 section 2.1: gets and sends the token without a proof', async () => {
    const { code, stdout, token, asked, used } = await requested((aud) => ({ aud }));
    expect([code, stdout]).toEqual([0, 'done']);
    expect(asked?.headers).not.toHaveProperty('dpop');
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toMatchObject({ scope: 'a' });
    expect(used.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`]);
    expect(used[0]?.headers).not.toHaveProperty('dpop');
  });

  test.each([
    ['metadata', { metadata: { dpop_signing_alg_values_supported: ['ES256'] } }],
    ['challenge', { challenge: ', DPoP algs="ES256"' }],
  ])('RFC 9449 section 7.1: DPoP in the %s alone is enough for a bound token', async (_, dpop) => {
    const { code, asked, used } = await requested((aud) => ({ aud }), { type: 'DPoP', dpop });
    expect(code).toBe(0);
    expect(asked?.headers).toHaveProperty('dpop');
    expect(used.map(({ headers }) => headers)).toEqual([
      expect.objectContaining({
        authorization: expect.stringMatching(/^DPoP /),
        dpop: expect.any(String),
      }),
    ]);
  });

  test.each<[string, (resource: string) => object, string | undefined, string]>([
    [
      'another resource',
      () => ({ aud: 'https://bank.example/' }),
      undefined,
      'https://bank.example/, not for',
    ],
    [
      'more than that resource',
      (aud) => ({ aud: [aud, 'https://bank.example/'] }),
      undefined,
      'not for',
    ],
    ['a key', (aud) => ({ aud, cnf: { jkt: 'x' } }), undefined, 'bound to a key'],
    ['a key, as its type says', (aud) => ({ aud }), 'DPoP', 'type DPoP, not bearer'],
  ])('RFC 8707 section 3: a token for %s is not sent', async (_, claims, type, message) => {
    const { code, stderr, used } = await requested(claims, type === undefined ? {} : { type });
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(used).toEqual([]);
  });
});

describe('token get', () => {
  test('--dpop --json prints the token and its private key', async () => {
    const as = await authorizationServer();
    const shell = await shellFor(as.origin);
    const { code, stdout } = await inProcess(shell, 'token', 'get', 'machine', '--dpop', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      access_token: 'at',
      token_type: 'DPoP',
      dpop_jwk: { kty: 'EC', d: expect.any(String) },
    });
  });

  test.each([
    ['--secret', ['--secret=from option'], '', 'from+option'],
    ['--secret-stdin', ['--secret-stdin'], 'from stdin\n', 'from+stdin'],
    ['the environment', [], '', 'the+secret'],
  ])('reads the secret from %s', async (_, args, stdin, sent) => {
    const as = await authorizationServer();
    const shell = await shellFor(as.origin);
    shell.stdin = stdin;
    await inProcess(shell, 'token', 'get', 'machine', '--dpop', ...args);
    const credentials = as.received.at(-1)?.authorization?.slice('Basic '.length) ?? '';
    expect(Buffer.from(credentials, 'base64').toString()).toBe(`machine:${sent}`);
  });

  test.each([
    ['two secrets', ['machine', '--secret', 'a', '--secret-stdin'], {}, 2, 'not both'],
    ['no secret', ['machine'], { COUNTERSIGN_CLIENT_SECRET: '' }, 2, 'no secret'],
    ['an empty secret', ['machine', '--secret='], {}, 2, 'no secret'],
    ['an unknown client', ['nobody'], {}, 1, 'no client nobody'],
  ])('%s: sends no request', async (_, args, env, code, message) => {
    const as = await authorizationServer();
    const shell = await shellFor(as.origin, env);
    expect(await inProcess(shell, 'token', 'get', ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
    expect(as.received).toEqual([]);
  });
});

describe('request --concealed', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const encrypted = { cipher: 'aes-256-cbc', passphrase: 'secret' };
  test.each([
    ['no file', undefined, 'cannot read KEY (ENOENT)'],
    ['a public key', publicKey.export({ format: 'pem', type: 'spki' }), 'KEY has no private key'],
    [
      'a key behind a passphrase',
      privateKey.export({ format: 'pem', type: 'pkcs8', ...encrypted }),
      'KEY is encrypted, and this command asks for no passphrase',
    ],
  ])('%s: says so', async (_, content, message) => {
    const shell = new TestShell(await newData());
    const file = `${shell.env['COUNTERSIGN_DATA']}.pem`;
    if (content !== undefined) await writeFile(file, content);
    const args = ['GET', 'https://localhost:1/', '--concealed', file];
    const { code, stderr } = await inProcess(shell, 'request', ...args);
    expect([code, stderr]).toEqual([1, `${message.replace('KEY', file)}\n`]);
  });
});
