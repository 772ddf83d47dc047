import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { asApp, basic, SECRET, signer, testAuthz } from './authz.fixture.ts';
import type { TestAuthz } from './authz.fixture.ts';
import { WEB } from './code-flow.fixture.ts';

const GRANT = { grant_type: 'client_credentials' };
const SECRETS = ['a-code-of-somebody', 'a-token-of-somebody', 'a-wrong-secret', 'v'.repeat(43)];
const [CODE = '', TOKEN = '', WRONG = '', VERIFIER = ''] = SECRETS;

let authz: TestAuthz;
const lines: string[] = [];
let key: CryptoKey;
let stranger: CryptoKey;

beforeAll(async () => {
  const log = jsonLog((line) => void lines.push(line), systemClock, 'authz');
  authz = await testAuthz({}, systemClock, log);
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey;
  stranger = (await generateKeyPair('ES256')).privateKey;
  await authz.stores.clients.add(WEB);
  await authz.stores.clients.add(await signer(pair.publicKey));
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

type Form = Readonly<Record<string, string>>;

/** Returns the log line of the request, which has ended when the answer arrives. */
async function lineOf(path: string, form: Form, fields: Form = {}) {
  lines.length = 0;
  const { status, headers } = await authz.post(path, { ...form }, { ...fields });
  expect(status).toBeGreaterThanOrEqual(400);
  while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const line: unknown = JSON.parse(lines.find((one) => one.includes('"request"')) ?? '');
  expect(line).toMatchObject({ status, id: headers.get('x-request-id') });
  for (const secret of [...SECRETS, ...Object.values(fields)]) {
    expect(JSON.stringify(line)).not.toContain(secret);
  }
  return String((line as Form)['reason']);
}

/** Every kind of mistake must have its own reason. */
function expectDistinct(reasons: readonly string[]): void {
  expect(reasons.filter((reason) => !/^[a-z_]+: ./.test(reason))).toEqual([]);
  expect(new Set(reasons).size).toBe(reasons.length);
}

test('RFC 6749 section 5.2: the log line of a request names its error', async () => {
  const web = { client_id: 'web' };
  const mistakes: readonly (readonly [string, Form, Form?])[] = [
    ['/token', GRANT],
    ['/token', GRANT, basic('nobody', SECRET)],
    ['/token', GRANT, basic('app', WRONG)],
    ['/token', { ...GRANT, client_secret: WRONG }, asApp],
    ['/token', { ...GRANT, ...web }, asApp],
    ['/token', {}, asApp],
    ['/token', { grant_type: 'password' }, asApp],
    ['/token', { grant_type: 'refresh_token', refresh_token: TOKEN }, asApp],
    ['/token', { ...GRANT, scope: 'x' }, asApp],
    ['/token', { ...GRANT, resource: 'https://evil.example/' }, asApp],
    ['/token', { ...GRANT, scope: 'documents:read rsa' }, asApp],
    ['/token', GRANT, { ...asApp, dpop: 'x.y.z' }],
    ['/token', { grant_type: 'refresh_token', refresh_token: TOKEN, ...web }],
    ['/token', { grant_type: 'authorization_code', code: CODE, redirect_uri: 'x:y', ...web }],
    ['/token', { grant_type: 'authorization_code', ...web, code_verifier: VERIFIER }],
    ['/device/auth', { ...web, scope: 'documents:read' }],
    ['/request', { ...web, response_type: 'code', redirect_uri: 'https://evil.example/' }],
    ['/request', { ...web, response_type: 'token', redirect_uri: WEB.redirect_uris?.[0] ?? '' }],
    ['/token/introspection', {}, asApp],
  ];
  const reasons: string[] = [];
  for (const mistake of mistakes) reasons.push(await lineOf(...mistake));
  expectDistinct(reasons);
});

test('RFC 7523 section 3: the log line names the error of a client assertion', async () => {
  const now = Math.floor(Date.now() / 1000);
  const assertion = (claims: object, header: object = {}, by = key) =>
    new SignJWT({
      iss: 'signer',
      sub: 'signer',
      aud: authz.config.issuer,
      jti: randomUUID(),
      exp: now + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(by);
  const once = await assertion({});
  const form = (client_assertion: string) => ({
    ...GRANT,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion,
  });
  expect((await authz.post('/token', form(once))).status).toBe(200);
  const mistakes = [
    once,
    await assertion({}, {}, stranger),
    await assertion({ exp: now - 60 }),
    await assertion({ exp: now + 7200 }),
    await assertion({ exp: undefined }),
    await assertion({ iat: now + 1000 }),
    await assertion({ nbf: now + 1000 }),
    await assertion({ jti: undefined }),
    await assertion({ iss: 'app' }),
    await assertion({ iss: undefined }),
    await assertion({ sub: undefined }),
    await assertion({ sub: 'nobody' }),
    await assertion({ aud: 'https://evil.example' }),
    await assertion({ aud: undefined }),
    await assertion({ aud: `${authz.config.issuer}/token` }),
    await assertion({ aud: [authz.config.issuer, 'x'] }),
    await assertion({}, { typ: 'dpop+jwt' }),
    'x.y.z',
  ];
  const reasons: string[] = [];
  for (const one of mistakes) reasons.push(await lineOf('/token', form(one)));
  expectDistinct(reasons);
});

test('input that cannot be parsed is not quoted in the answer', async () => {
  const client_assertion = ['a', 'secret of the client', 'c']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const reason = await lineOf('/token', { ...GRANT, client_assertion_type, client_assertion });
  expect(reason).toMatch(/^invalid_request: [^'"“]+$/);
  expect(reason).not.toContain('secret');
});
