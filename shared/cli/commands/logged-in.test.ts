import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import { epochSeconds } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { CLI } from '#shared/base/invocation.ts';
import { inProcess, json, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';
import { deviceServer, error, granted, sent } from '../oauth/authorization-server.fixture.ts';

let shell: TestShell;
let file: string;
beforeEach(async () => {
  shell = new TestShell({ HOME: await temporaryFolder() });
  file = join(shell.env['HOME'] ?? '', '.config/countersign/login.json');
});

const login = (issuer: string, ...more: readonly string[]) =>
  json(shell, 'login', '--issuer', issuer, ...more);
const kept = async () => JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;

describe('whoami', () => {
  test('OpenID Connect Core 1.0 section 5.3: shows person, server, scope and expiry', async () => {
    const as = await deviceServer();
    await login(as.origin, '--resource', 'https://api.example/');
    const expires_at = (await kept())['expires_at'];
    expect(await json(shell, 'whoami')).toEqual({
      issuer: as.origin,
      sub: 'p1',
      name: 'alice',
      client_id: 'demo-device',
      scope: 'documents:read',
      resource: 'https://api.example/',
      expires_at,
    });
    const { stdout } = await inProcess(shell, 'whoami');
    expect(stdout).toMatch(/^person +alice$/m);
    expect(stdout).toMatch(/^token until +20\d\d-.*Z, then renewed$/m);
    const asked = as.received.findLast(({ url }) => url === '/userinfo');
    expect(asked?.authorization).toBe('DPoP at');
    expect(asked?.headers['dpop']).toBeDefined();
  });

  test('shows how and when the person signed in, if the token is a JWT (RFC 9068 section 2.2.1)', async () => {
    const signedIn = {
      acr: 'urn:countersign:acr:passkey',
      amr: ['swk', 'user'],
      auth_time: epochSeconds(shell.clock) - 60,
    };
    const access_token = new UnsecuredJWT({ ...signedIn, aud: 'https://api.example/' }).encode();
    const as = await deviceServer({ polls: [granted({ access_token })] });
    await login(as.origin);
    expect(await json(shell, 'whoami')).toMatchObject(signedIn);
    const { stdout } = await inProcess(shell, 'whoami');
    expect(stdout).toMatch(/^signed in by +urn:countersign:acr:passkey$/m);
    expect(stdout).toMatch(/^methods +swk user$/m);
    expect(stdout).toMatch(/^signed in at +\S+Z \(\d+ s ago\)$/m);
  });

  test('hides claims of an unexpected type', async () => {
    const access_token = new UnsecuredJWT({ acr: 1, amr: 'pwd', auth_time: 'now' }).encode();
    const as = await deviceServer({ polls: [granted({ access_token })] });
    await login(as.origin);
    const told = await json(shell, 'whoami');
    for (const claim of ['acr', 'amr', 'auth_time']) expect(told).not.toHaveProperty(claim);
  });

  test('every request names the command line as its client (RFC 9110 section 10.1.5)', async () => {
    const as = await deviceServer();
    await login(as.origin);
    await json(shell, 'whoami');
    await json(shell, 'logout');
    const agents = new Set(as.received.map(({ headers }) => headers['user-agent']));
    expect([...agents]).toEqual(['countersign']);
    expect(as.received.length).toBeGreaterThan(3);
  });

  test('without the scope openid shows everything but the person', async () => {
    const as = await deviceServer({
      userinfo: { status: 403, body: { error: 'insufficient_scope' } },
    });
    await login(as.origin);
    expect(await json(shell, 'whoami')).not.toHaveProperty('sub');
    expect((await inProcess(shell, 'whoami')).stdout).toContain('lacks the scopes');
  });

  test.each([
    ['ended', { status: 401 }, `has ended: run ${CLI} login`],
    ['not answered', { status: 503 }, 'answers 503'],
  ])('reports a login that is %s', async (_, userinfo, message) => {
    const as = await deviceServer({ userinfo });
    await login(as.origin);
    expect(await inProcess(shell, 'whoami')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(message),
    });
  });

  test('reports that there is no login', async () => {
    const ended = await inProcess(shell, 'whoami');
    expect(ended).toMatchObject({
      code: 1,
      stderr: `nobody is logged in: run ${CLI} login\n`,
    });
  });
});

describe('logout', () => {
  test('RFC 7009 section 2.1: revokes the refresh token, and deletes the file', async () => {
    const as = await deviceServer();
    await login(as.origin);
    expect(await json(shell, 'logout')).toEqual({ issuer: as.origin, revoked: true });
    expect(sent(as, '/token/revocation')).toEqual([
      { token: 'rt', token_type_hint: 'refresh_token', client_id: 'demo-device' },
    ]);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    expect((await inProcess(shell, 'whoami')).code).toBe(1);
    expect(await json(shell, 'logout')).toBeNull();
  });

  test('without a refresh token revokes the access token', async () => {
    const as = await deviceServer({ polls: [granted({ refresh_token: undefined })] });
    await login(as.origin);
    await json(shell, 'logout');
    expect(sent(as, '/token/revocation')).toMatchObject([
      { token: 'at', token_type_hint: 'access_token' },
    ]);
  });

  test.each([
    ['refuses', error('invalid_client'), 'invalid_client'],
    ['has no time', { status: 503, body: 'later' }, 'answers 503'],
  ])('if the server %s, deletes the file and says so', async (_, revocation, reason) => {
    const as = await deviceServer({ revocation });
    await login(as.origin);
    const { code: exit, stdout } = await inProcess(shell, 'logout');
    expect([exit, stdout]).toEqual([1, expect.stringContaining(reason)]);
    expect(stdout).toContain('deleted here, but not ended');
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  test('if the server is down, deletes the file and says so', async () => {
    const as = await deviceServer();
    await login(as.origin);
    const gone = 'http://127.0.0.1:1';
    await writeFile(file, JSON.stringify({ ...(await kept()), issuer: gone }));
    const { code: exit, stdout } = await inProcess(shell, 'logout', '--json');
    expect([exit, JSON.parse(stdout)]).toMatchObject([1, { issuer: gone, revoked: false }]);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});

test.each([['login', '--issuer', 'https://auth.example'], ['whoami'], ['logout']])(
  '%s refuses a file that other users may read, and says what to do',
  async (...args) => {
    const as = await deviceServer();
    await login(as.origin);
    await chmod(file, 0o644);
    const ended = await inProcess(shell, ...args);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(`chmod 600 ${file}`) });
    expect(sent(as, '/token/revocation')).toEqual([]);
  },
);

describe('request', () => {
  /** A resource server that accepts the login's token and names this authorization server. */
  const resourceServer = (issuer: string, authorization = 'DPoP at') =>
    listen(({ url, authorization: sentIn }, origin) => {
      if (url?.startsWith('/.well-known/')) {
        return { body: { resource: `${origin}/documents/`, authorization_servers: [issuer] } };
      }
      const place = `${origin}/.well-known/oauth-protected-resource/documents/`;
      return sentIn === authorization
        ? { body: 'content' }
        : { status: 401, fields: { 'www-authenticate': `DPoP resource_metadata="${place}"` } };
    });

  test('uses the login for the resource that it was issued for', async () => {
    const as = await deviceServer();
    const rs = await resourceServer(as.origin);
    await login(as.origin, '--resource', `${rs.origin}/documents/`);
    const ended = await inProcess(shell, 'request', 'GET', `${rs.origin}/documents/a`);
    expect(ended).toEqual({ code: 0, stdout: 'content', stderr: 'HTTP 200\n' });
    expect(rs.received.at(-1)?.headers['dpop']).toBeDefined();
  });

  test.each([
    ['another resource', (origin: string) => `${origin}/other/`, true],
    ['no resource', () => undefined, true],
    ['another issuer', (origin: string) => `${origin}/documents/`, false],
  ])('a login for %s: the token is not sent', async (_, resourceOf, sameIssuer) => {
    const as = await deviceServer();
    const rs = await resourceServer(sameIssuer ? as.origin : 'https://auth.example');
    const resource = resourceOf(rs.origin);
    await login(as.origin, ...(resource === undefined ? [] : ['--resource', resource]));
    const { code: exit, stderr } = await inProcess(
      shell,
      'request',
      'GET',
      `${rs.origin}/documents/a`,
    );
    expect([exit, stderr]).toEqual([
      1,
      expect.stringContaining(`${CLI} login --resource ${rs.origin}/documents/`),
    ]);
    expect(rs.received.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  test('does not send a bound token to a resource that accepts Bearer only (RFC 9449 section 7.2)', async () => {
    const as = await deviceServer();
    const rs = await listen(({ url }, origin) => {
      const resource = `${origin}/documents/`;
      const place = `${origin}/.well-known/oauth-protected-resource/documents/`;
      const bearer = { bearer_methods_supported: ['header'] };
      return url?.startsWith('/.well-known/')
        ? { body: { resource, authorization_servers: [as.origin], ...bearer } }
        : { status: 401, fields: { 'www-authenticate': `Bearer resource_metadata="${place}"` } };
    });
    await login(as.origin, '--resource', `${rs.origin}/documents/`);
    const before = as.received.length;
    shell.clock.advance(3600); // the token has expired, and is not refreshed for this resource
    const ended = await inProcess(shell, 'request', 'GET', `${rs.origin}/documents/a`);
    expect([ended.code, ended.stderr]).toEqual([
      1,
      `${rs.origin}/documents/ takes tokens by Bearer alone, and that of a login is bound to a key: name a --client\n`,
    ]);
    expect(as.received).toHaveLength(before);
    expect(rs.received.map(({ authorization }) => authorization)).toEqual([undefined, undefined]);
  });

  test('says to log in again if the token is refused', async () => {
    const as = await deviceServer();
    const rs = await resourceServer(as.origin, 'DPoP other');
    await login(as.origin, '--resource', `${rs.origin}/documents/`);
    const { code: exit, stderr } = await inProcess(
      shell,
      'request',
      'GET',
      `${rs.origin}/documents/`,
    );
    expect([exit, stderr]).toEqual([
      1,
      `HTTP 401\nThe token was refused: run ${CLI} login again.\n`,
    ]);
  });

  test('says how to log in if there is no login', async () => {
    const rs = await resourceServer('https://auth.example');
    const { code: exit, stderr } = await inProcess(
      shell,
      'request',
      'GET',
      `${rs.origin}/documents/`,
    );
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`run ${CLI} login`)]);
  });

  test.each([['--scope=x'], ['--secret=x'], ['--secret-stdin']])(
    '%s without a client is a mistake',
    async (option) => {
      const ended = await inProcess(shell, 'request', 'GET', 'https://api.example/', option);
      expect(ended).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('goes with a --client'),
      });
    },
  );

  test('a named client takes precedence over the login', async () => {
    const as = await deviceServer();
    const rs = await resourceServer(as.origin);
    await login(as.origin, '--resource', `${rs.origin}/documents/`);
    const args = ['request', 'GET', `${rs.origin}/documents/`, '--client', 'machine'];
    const { code: exit, stderr } = await inProcess(shell, ...args);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('no secret')]);
  });
});
