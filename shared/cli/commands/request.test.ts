import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inProcess, newData, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';
import { withStores } from '../with-stores.ts';

const authorizationServer = () =>
  listen(({ url }, origin) =>
    url === '/token'
      ? { body: JSON.stringify({ access_token: 'at', token_type: 'DPoP' }) }
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
    COUNTERSIGN_PUBLIC: `${issuer} http://localhost:3001`,
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
  test('finds the resource, gets a token and sends the request with it', async () => {
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

  test('a resource of another authorization server gets nothing: no secret leaves', async () => {
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

  test('an error of the resource is printed, exit code 1', async () => {
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
    ['a method that is none', ['GET /x', 'https://api.example/'], 2, 'not a method'],
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
  ])('%s is refused before anything is sent', async (_, args, code, message) => {
    expect(await inProcess(new TestShell(), 'request', ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  });

  test('a resource that asks for a token, and no client', async () => {
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

describe('token get', () => {
  test('--dpop --json: the token and the private key that it is bound to', async () => {
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
  ])('the secret comes from %s', async (_, args, stdin, sent) => {
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
    ['a client that there is not', ['nobody'], {}, 1, 'no client nobody'],
  ])('%s: nothing is sent', async (_, args, env, code, message) => {
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
