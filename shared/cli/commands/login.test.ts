import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { CODE, deviceServer, error, granted, sent } from '../oauth/authorization-server.fixture.ts';

let shell: TestShell;
let file: string;
beforeEach(async () => {
  shell = new TestShell({ HOME: await temporaryFolder() });
  file = join(shell.env['HOME'] ?? '', '.config/countersign/login.json');
});

const login = (issuer: string, ...more: readonly string[]) =>
  json(shell, 'login', '--issuer', issuer, ...more);
const kept = async () => JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;

const TOKENS = { access_token: 'secret-at', refresh_token: 'secret-rt' };

describe('login', () => {
  test('RFC 8628: shows link and code, then stores the token with its key for the owner only', async () => {
    const as = await deviceServer({
      device: { body: { ...CODE, device_code: 'secret-dc' } },
      polls: [error('authorization_pending'), error('slow_down'), granted(TOKENS)],
    });
    const began = shell.clock.now();
    const resource = 'https://api.example/documents/';
    const {
      code: exit,
      stdout,
      stderr,
    } = await inProcess(shell, 'login', '--issuer', as.origin, '--resource', resource);
    expect([exit, stderr]).toEqual([
      0,
      [
        'Open   https://auth.example/device?user_code=BCDF-GHJK',
        'Code   BCDF-GHJK',
        'Approve only if the page shows the same code.',
        'Waiting for approval, 10:00 at most',
        '',
      ].join('\n'),
    ]);
    expect(stdout).toContain(`Logged in at ${as.origin}.`);
    expect(stdout).toContain(`request GET ${resource}\n`);
    expect(stdout).toContain(file);
    expect(shell.clock.now() - began).toBe(20_000);
    const form = { client_id: 'demo-device', resource };
    expect(sent(as, '/device/auth')).toEqual([form]);
    expect(sent(as, '/token')[0]).toEqual({
      ...form,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'secret-dc',
    });

    const written = await kept();
    expect(written).toEqual({
      issuer: as.origin,
      client_id: 'demo-device',
      scope: 'documents:read',
      resource,
      ...TOKENS,
      expires_at: shell.clock.now() + 600_000,
      private_jwk: {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        d: expect.any(String),
      },
    });
    const proofs = as.received.flatMap(({ url, headers }) =>
      url === '/token' ? String(headers['dpop']) : [],
    );
    const { d: _, ...publicJwk } = written['private_jwk'] as Record<string, string>;
    expect(proofs.map((proof) => decodeProtectedHeader(proof).jwk)).toEqual([
      publicJwk,
      publicJwk,
      publicJwk,
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(stdout + stderr).not.toContain('secret-');
  });

  test('--json prints one line on standard output, without secrets', async () => {
    const as = await deviceServer();
    expect(await login(as.origin)).toEqual({
      issuer: as.origin,
      client_id: 'demo-device',
      scope: 'documents:read',
      expires_at: expect.any(Number),
      file,
    });
    expect(shell.stderr).toContain('BCDF-GHJK');
  });

  test('without --scope, login asks for no scope; with --scope, it adds openid and profile', async () => {
    const as = await deviceServer();
    await login(as.origin);
    await login(as.origin, '--client', 'tv', '--scope', 'documents:read  openid');
    expect(sent(as, '/device/auth')).toEqual([
      { client_id: 'demo-device' },
      { client_id: 'tv', scope: 'openid profile documents:read' },
    ]);
  });

  test('RFC 6749 section 5.1: names scopes that the server does not list or does not grant', async () => {
    const as = await deviceServer({
      metadata: { scopes_supported: ['openid', 'profile', 'documents:read', 'documents:write'] },
      polls: [granted({ scope: 'openid profile documents:read' })],
    });
    const wish = ['--scope', 'documents:read documents:write nonsense'];
    const { stdout, stderr } = await inProcess(shell, 'login', '--issuer', as.origin, ...wish);
    const unlisted = `${as.origin} does not list the scope nonsense: the token may come without it.`;
    expect(stderr.split('\n')[0]).toBe(unlisted);
    expect(stdout).toContain('\nThe token lacks documents:write nonsense. You did not allow it,');
    expect(await kept()).toMatchObject({ left_out: 'documents:write nonsense' });
  });

  test('RFC 9068 section 2.2: reads the chosen resource from the token', async () => {
    const claims = Buffer.from('{"aud":"https://api.example/documents/"}').toString('base64url');
    const as = await deviceServer({ polls: [granted({ access_token: `e30.${claims}.x` })] });
    const resource = 'https://api.example/documents/';
    expect(await login(as.origin)).toMatchObject({ resource });
    expect(await login(as.origin, '--resource', resource.slice(0, -1))).toMatchObject({ resource });
  });

  test('on a terminal shows a QR code if there is room, and a countdown that is erased', async () => {
    const as = await deviceServer();
    shell.terminal = true;
    shell.columns = 80;
    const { stdout, stderr } = await inProcess(shell, 'login', '--issuer', as.origin);
    expect(stdout).toContain('▀');
    expect(stdout).toContain('Code   BCDF-GHJK\n');
    expect(stdout.match(/Waiting for approval, [\d:]+ left/g)).toEqual(
      ['10:00', '9:59', '9:58', '9:57', '9:56'].map((time) => `Waiting for approval, ${time} left`),
    );
    expect(stdout).toContain('9:56 left\r\u001b[2KLogged in at');
    expect(stderr).toBe('');

    shell.columns = 30;
    expect((await inProcess(shell, 'login', '--issuer', as.origin)).stdout).not.toContain('▀');
    await login(as.origin);
    expect(shell.stderr).toContain('Code   BCDF-GHJK');
  });

  test('says that a phone cannot open a link to this machine', async () => {
    const local = {
      verification_uri: 'http://127.0.0.1:3000/device',
      verification_uri_complete: undefined,
    };
    const as = await deviceServer({ device: { body: { ...CODE, ...local } } });
    await login(as.origin);
    expect(shell.stderr).toContain('a phone cannot reach 127.0.0.1');
    expect(shell.stderr).toContain('Enter the code there.');
  });

  test('escapes control characters of a server', async () => {
    const evil = { user_code: '\u001b[2JBCDF', verification_uri: 'https://auth.example/\u001b[2J' };
    const as = await deviceServer({ device: { body: { ...CODE, ...evil } } });
    shell.terminal = true;
    const { stdout } = await inProcess(shell, 'login', '--issuer', as.origin);
    expect(stdout.replaceAll('\r\u001b[2K', '')).not.toContain('\u001b');
  });

  test.each([
    ['access_denied', 'The request was denied.'],
    ['expired_token', 'run the command again'],
    ['invalid_client', 'invalid_client'],
  ])('section 3.5: %s: exit code 1, and nothing is stored', async (name, sentence) => {
    const as = await deviceServer({ polls: [error(name)] });
    const ended = await inProcess(shell, 'login', '--issuer', as.origin);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence) });
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  test('the demo client in production: says how to register a client, which then works', async () => {
    const device = { status: 401, body: { error: 'invalid_client' } };
    const as = await deviceServer({ device });
    const ended = await inProcess(shell, 'login', '--issuer', as.origin);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('demo-device is not known there');
    expect(ended.stderr).toContain('--client\n');
    const [, options = ''] = /cli -- (client add .*)/.exec(ended.stderr) ?? [];
    const args = [...options.matchAll(/"([^"]+)"|(\S+)/g)].map(([, a, b]) => a ?? b ?? '');
    const operator = new TestShell(await newData());
    // Its scopes are a placeholder, as a note says.
    expect(await json(operator, ...args)).toMatchObject({ client_id: expect.any(String) });

    const other = await inProcess(shell, 'login', '--issuer', as.origin, '--client', 'tv');
    expect(other.stderr).toContain('answers 401: invalid_client');
  });

  test.each([
    [
      'an issuer in clear on another machine',
      ['--issuer', 'http://auth.example'],
      2,
      'must be https',
    ],
    ['an issuer that is no URL', ['--issuer', 'auth'], 2, 'must be https'],
    [
      'a resource in clear',
      ['--issuer', 'https://a.example', '--resource', 'http://b.example/'],
      2,
      'must be https',
    ],
  ])('%s is refused before any request', async (_, args, exit, message) => {
    expect(await inProcess(shell, 'login', ...args)).toMatchObject({
      code: exit,
      stderr: expect.stringContaining(message),
    });
  });

  test.each(['', '/'])(
    'the URL of an authorization server gets the hint --issuer: %j',
    async (end) => {
      const as = await deviceServer({});
      const { code, stderr } = await inProcess(shell, 'login', as.origin + end);
      expect([code, stderr]).toEqual([
        1,
        `${as.origin}${end} is an authorization server, not a resource: give the URL of a resource, or --issuer ${as.origin}\n`,
      ]);
    },
  );

  test('without a HOME folder fails, because there is no place for the login', async () => {
    const ended = await inProcess(new TestShell({}), 'login', '--issuer', 'https://auth.example');
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('set HOME') });
  });

  test('revokes an earlier login once the next one is stored', async () => {
    const [one, other] = [
      await deviceServer(),
      await deviceServer({ polls: [granted({ refresh_token: 'rt2' })] }),
    ];
    await login(one.origin);
    await login(other.origin);
    expect(sent(one, '/token/revocation')).toMatchObject([{ token: 'rt' }]);
    expect(await kept()).toMatchObject({ issuer: other.origin, refresh_token: 'rt2' });
    expect(sent(other, '/token/revocation')).toEqual([]);
  });

  test('leaves an earlier login unchanged after a denial', async () => {
    const [one, other] = [
      await deviceServer(),
      await deviceServer({ polls: [error('access_denied')] }),
    ];
    await login(one.origin);
    expect((await inProcess(shell, 'login', '--issuer', other.origin)).code).toBe(1);
    expect(await kept()).toMatchObject({ issuer: one.origin });
    expect(sent(one, '/token/revocation')).toEqual([]);
  });

  test('says so if an earlier login cannot be revoked', async () => {
    const [one, other] = [
      await deviceServer({ revocation: { status: 503 } }),
      await deviceServer(),
    ];
    await login(one.origin);
    await login(other.origin);
    expect(shell.stderr).toContain(`The earlier login at ${one.origin} is not ended`);
  });
});
