import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { CLI } from '#shared/base/invocation.ts';
import { runScript, TestShell } from '../cli.fixture.ts';
import type { Received } from '../listen.fixture.ts';
import { lockPrivate } from '../files/private-file.ts';
import { authorizationServer } from './authorization-server.fixture.ts';
import { currentLogin } from './current-login.ts';
import { sendUnhurried } from './http.ts';
import type { Login } from './login.ts';
import { LOGIN } from './login.fixture.ts';
import { loginPath, readLogin, writeLogin } from './login-file.ts';

let shell: TestShell;
let path: string;
beforeEach(async () => {
  shell = new TestShell({ HOME: await temporaryFolder() });
  path = loginPath(shell.env) ?? '';
});

const keep = (login: Login) =>
  lockPrivate(path, shell, () => writeLogin(path, login, systemRandom));
const never = async () => {
  throw new Error('nothing is to be sent');
};

/** A server that rotates the refresh token `rt<n>`, and refuses a second use as a replay. */
function rotating() {
  const used = new Set<string>();
  return authorizationServer({
    '/token': (form) => {
      const token = form.get('refresh_token') ?? '';
      if (used.has(token)) return { status: 400, body: { error: 'invalid_grant' } };
      used.add(token);
      const next = Number(token.slice(2)) + 1;
      const refresh_token = `rt${next}`;
      const access_token = `at${next}`;
      return { body: { access_token, token_type: 'DPoP', expires_in: 600, refresh_token } };
    },
  });
}
const tokenRequests = ({ received }: { readonly received: readonly Received[] }) =>
  received.filter(({ url }) => url === '/token');

describe('currentLogin', () => {
  test('without a file or a HOME folder there is no login', async () => {
    expect(await currentLogin(never, shell)).toBeUndefined();
    expect(await currentLogin(never, new TestShell({}))).toBeUndefined();
  });

  test('a token with more than 30 seconds left is used unchanged', async () => {
    await keep(LOGIN);
    shell.clock.advance(29);
    expect(await currentLogin(never, shell)).toEqual(LOGIN);
  });

  test('a token that expires soon is refreshed with the same key, and the file has the new token first', async () => {
    const server = await rotating();
    await keep({ ...LOGIN, issuer: server.origin, refresh_token: 'rt1' });
    shell.clock.advance(30);
    const login = await currentLogin(sendUnhurried, shell);
    expect(login).toMatchObject({
      access_token: 'at2',
      refresh_token: 'rt2',
      expires_at: shell.clock.now() + 600_000,
      scope: LOGIN.scope,
    });
    expect(await readLogin(path)).toEqual(login);
    const [request] = tokenRequests(server);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'rt1',
      client_id: 'demo-device',
      resource: LOGIN.resource,
    });
    const { jwk } = decodeProtectedHeader(String(request?.headers['dpop']));
    expect(jwk).not.toHaveProperty('d');
    expect(await calculateJwkThumbprint(jwk ?? {})).toBe(
      await calculateJwkThumbprint(LOGIN.private_jwk),
    );
  });

  test('a refresh token that is not rotated stays', async () => {
    const body = { access_token: 'at2', token_type: 'DPoP', expires_in: 600 };
    const server = await authorizationServer({ '/token': () => ({ body }) });
    await keep({ ...LOGIN, issuer: server.origin });
    shell.clock.advance(60);
    expect(await currentLogin(sendUnhurried, shell)).toMatchObject({
      access_token: 'at2',
      refresh_token: 'rt',
    });
  });

  test('ten calls at once make one refresh request, and all get its token', async () => {
    const server = await rotating();
    await keep({ ...LOGIN, issuer: server.origin, refresh_token: 'rt1', expires_at: 0 });
    Object.assign(shell, { wait: (milliseconds: number) => setTimeout(milliseconds) });
    const logins = await Promise.all(
      Array.from({ length: 10 }, () => currentLogin(sendUnhurried, shell)),
    );
    expect(logins.map((login) => login?.access_token)).toEqual(
      Array.from({ length: 10 }, () => 'at2'),
    );
    expect(tokenRequests(server)).toHaveLength(1);
  });

  test('several processes at once make one refresh request, and all get the new token', async () => {
    const server = await rotating();
    await keep({ ...LOGIN, issuer: server.origin, refresh_token: 'rt1', expires_at: 0 });
    const module = (name: string) =>
      JSON.stringify(fileURLToPath(new URL(`${name}.ts`, import.meta.url)));
    const script = `
      const { currentLogin } = await import(${module('current-login')});
      const { sendUnhurried } = await import(${module('http')});
      const { setTimeout } = await import('node:timers/promises');
      const { randomBytes } = await import('node:crypto');
      const shell = { env: process.env, clock: Date, random: randomBytes, wait: setTimeout };
      process.stdout.write((await currentLogin(sendUnhurried, shell)).access_token);`;
    const ended = await Promise.all(
      Array.from({ length: 4 }, () =>
        runScript(['--input-type=module', '--eval', script], {
          HOME: shell.env['HOME'],
          PATH: process.env['PATH'],
        }),
      ),
    );
    expect(ended.map(({ stdout, stderr }) => stdout + stderr)).toEqual([
      'at2',
      'at2',
      'at2',
      'at2',
    ]);
    expect(tokenRequests(server)).toHaveLength(1);
    expect(await readLogin(path)).toMatchObject({ refresh_token: 'rt2' });
  });

  test('RFC 6749 section 5.2: after invalid_grant the login has ended, and the file stays for logout', async () => {
    const refuse = () => ({ status: 400, body: { error: 'invalid_grant' } });
    const server = await authorizationServer({ '/token': refuse });
    await keep({ ...LOGIN, issuer: server.origin, expires_at: 0 });
    await expect(currentLogin(sendUnhurried, shell)).rejects.toThrow(
      `the login at ${server.origin} has ended: run ${CLI} login`,
    );
    expect(await readLogin(path)).toMatchObject({ refresh_token: 'rt' });
  });

  test.each([
    ['an outage', () => ({ status: 503, body: { error: 'temporarily_unavailable' } }), '503'],
    ['a lost connection', () => undefined, 'no answer from'],
    [
      'a bearer token',
      () => ({ body: { access_token: 'a', token_type: 'Bearer' } }),
      'of type Bearer',
    ],
  ])('%s changes nothing', async (_, reply, reason) => {
    const server = await authorizationServer({ '/token': reply });
    const login = { ...LOGIN, issuer: server.origin, expires_at: 0 };
    await keep(login);
    await expect(currentLogin(sendUnhurried, shell)).rejects.toThrow(reason);
    expect(await readLogin(path)).toEqual(login);
  });

  test('a token without a refresh token is used until it expires', async () => {
    const { refresh_token: _, ...login } = LOGIN;
    await keep(login);
    shell.clock.advance(59);
    expect(await currentLogin(never, shell)).toEqual(login);
    shell.clock.advance(1);
    await expect(currentLogin(never, shell)).rejects.toThrow('has ended');
  });

  test('a token of unknown expiry is used until it is refused', async () => {
    const { expires_at: _, ...login } = LOGIN;
    await keep(login);
    shell.clock.advance(1_000_000);
    expect(await currentLogin(never, shell)).toEqual(login);
  });
});
