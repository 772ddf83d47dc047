import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Principal } from '#shared/auth/scheme.ts';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type DpopProver, dpopProver } from '../setup/dpop-prover.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { base64url, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { type KeySet, openKeyRing } from '#shared/keys/signing-key-ring.ts';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { createStatements } from '../../resource-server/gateway/identity/statements.ts';
import { type Client, type Flow, startFlow } from '../flows/flow.ts';
import { App, INVALID_GRANT, newPerson, post, refusal, sent, signedIn } from '../flows/person.ts';
import type { Tokens } from '../flows/person.ts';
import { statementsOf } from '../interop/gateway-identity/verify-statement.mjs';

/** The gateway's statements are not accepted as tokens, and no token is accepted as a statement. */
type Members = Readonly<Record<string, unknown>>;

const parts = new AsyncDisposableStack();
let flow: Flow;
let machine: Client;
let browser: TestBrowser;
let app: App;
let tokens: Tokens;
let prover: DpopProver;
/** The gateway's keys, and the keys of tokens. */
let keys: KeySet;
let keysOfTokens: KeySet;

beforeAll(async () => {
  flow = parts.use(await startFlow({ settings: { trustedProxies: ['127.0.0.1/32'] } }));
  const { pair, stores, config } = flow;
  machine = await pair.addClient();
  app = await App.add(flow, '--post-logout-redirect-uri', 'https://app.example/bye');
  browser = await signedIn(flow, await newPerson(flow));
  const scope = 'openid offline_access documents:read';
  tokens = await app.tokens(browser, { scope, prompt: 'consent' });
  prover = await dpopProver();
  const master = await readMasterSecret(config, pair.env);
  const common = { stores, master, clock: systemClock, random: systemRandom, config };
  keys = (await openKeyRing(keyLifecycle('gatewayKeys', common), ['ES256'])).current;
  keysOfTokens = (await openKeyRing(keyLifecycle('keys', common), ['ES256'])).current;
});
afterAll(() => parts.disposeAsync());

const keyOf = ({ jwks }: KeySet) => createPrivateKey({ key: { ...jwks[0] }, format: 'jwk' });

async function statement(audience: string, id = machine.id): Promise<string> {
  const ring = { current: keys, refresh: async () => {} };
  const feed = { onKeyRevoked() {} };
  const { resource: issuer } = flow.pair;
  const statements = createStatements({ issuer, ring, feed, clock: systemClock });
  const claims = { sub: id, client_id: id };
  const scopes = new Set(['documents:read', 'documents:write', 'openid']);
  const principal: Principal = { kind: 'application', id, scopes, claims };
  return (await statements.of({ scheme: 'Bearer', principal }, audience)) ?? '';
}

/** The same statement, signed with the key of tokens instead. */
function ofTokensKey(said: string): string {
  const kid = keysOfTokens.signingKid('ES256');
  const header = { ...decodeProtectedHeader(said), kid };
  return signJws(header, decodeJwt(said), keyOf(keysOfTokens));
}

describe.each<[string, (said: string) => string]>([
  ['a statement', (said) => said],
  ['a statement that was signed with the key of tokens', ofTokensKey],
])('%s', (_, signed) => {
  const made = async (audience: string, id?: string) => signed(await statement(audience, id));

  test('RFC 9068 section 4: is refused as an access token, at resources, /verify and userinfo', async () => {
    const { pair } = flow;
    const [resource, issuer] = [await made(pair.documents), await made(pair.issuer)];
    const bearer = { authorization: `Bearer ${resource}` };
    const forwarded = {
      'x-forwarded-method': 'GET',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(pair.resource).host,
      'x-forwarded-uri': '/documents/',
    };
    const proof = await prover.proof({ method: 'GET', url: pair.documents, accessToken: resource });
    const bound = { authorization: `DPoP ${resource}`, DPoP: proof };
    const answers = await Promise.all([
      fetch(pair.documents, { headers: bearer }),
      fetch(pair.documents, { headers: bound }),
      fetch(`${pair.resource}/verify`, { headers: { ...bearer, ...forwarded } }),
      fetch(`${pair.issuer}/userinfo`, { headers: { authorization: `Bearer ${issuer}` } }),
    ]);
    for (const { status, headers } of answers) {
      const told = headers.get('www-authenticate')?.includes('error="invalid_token"');
      expect([status, told]).toEqual([401, true]);
    }
  });

  test('RFC 7662 section 2.2, RFC 7009 section 2.2: is unknown to introspection and revocation', async () => {
    const token = await made(flow.pair.documents);
    const introspected = await flow.pair.post('/token/introspection', { token }, machine);
    expect([introspected.status, introspected.body]).toEqual([200, { active: false }]);
    const revoked = await flow.pair.post('/token/revocation', { token }, machine);
    expect([revoked.status, revoked.body]).toEqual([200, {}]);
  });

  test('RFC 9449 section 4.3: is refused as a DPoP proof, at the token endpoint and at resources', async () => {
    const proof = await made(`${flow.pair.issuer}/token`);
    const grant = { grant_type: 'client_credentials' };
    const authorization = `Basic ${btoa(`${machine.id}:${machine.secret}`)}`;
    const asked = await post(flow, '/token', grant, { authorization, dpop: proof });
    expect(refusal(asked)).toEqual([400, 'invalid_dpop_proof']);
    const url = `${flow.pair.issuer}/token`;
    const good = await post(flow, '/token', grant, {
      authorization,
      dpop: await prover.proof({ method: 'POST', url }),
    });
    expect(good.body['token_type']).toBe('DPoP');
    const bound = { authorization: `DPoP ${String(good.body['access_token'])}`, dpop: proof };
    expect((await fetch(flow.pair.documents, { headers: bound })).status).toBe(401);
  });

  test('RFC 7523 section 3: is refused as a client assertion, even if a client has the same key', async () => {
    const file = join(flow.pair.data, 'keys.json');
    await writeFile(
      file,
      JSON.stringify({ keys: [keys.publicJwks[0], keysOfTokens.publicJwks[0]] }),
    );
    const grants = ['--grant', 'client_credentials', '--scope', 'documents:read'];
    const key = ['--auth', 'private_key_jwt', '--jwks', file];
    const added = await flow.pair.cli('client', 'add', '--name', 'Key', ...grants, ...key);
    const id = String(added['client_id']);
    const show = (client_assertion: string) =>
      post(flow, '/token', {
        grant_type: 'client_credentials',
        client_id: id,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion,
      });
    const said = await made(flow.pair.issuer, id);
    expect(refusal(await show(said))).toEqual([401, 'invalid_client']);
    const assertion = { ...decodeJwt(said), iss: id, jti: randomUUID() };
    const header = { alg: 'ES256', kid: keys.signingKid('ES256') };
    expect((await show(signJws(header, assertion, keyOf(keys)))).status).toBe(200);
  });

  test('RFC 7523 section 2.1, RFC 8693 section 2.1: is refused as a grant, and cannot be exchanged', async () => {
    const said = await made(flow.pair.issuer);
    const forms = [
      { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: said },
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: said,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      },
    ];
    for (const form of forms) {
      const answer = await flow.pair.post('/token', form, machine);
      expect(refusal(answer)).toEqual([400, 'unsupported_grant_type']);
    }
    expect(refusal(await app.redeem(said))).toEqual(INVALID_GRANT);
    expect(refusal(await app.refresh(said))).toEqual(INVALID_GRANT);
  });

  test('OpenID Connect Core 1.0 sections 3.1.2.1 and 6: is refused as id_token_hint and as request object', async () => {
    const hint = await made(app.id, app.id);
    const asking = (more: Record<string, string>) =>
      browser.request('GET', app.url({ scope: 'openid', ...more }));
    const refused = sent(await asking({ id_token_hint: hint, prompt: 'none' }));
    expect(refused.get('error')).toBe('invalid_request');
    expect(sent(await asking({ request: hint })).get('error')).toBe('request_not_supported');
    const query = new URLSearchParams({ id_token_hint: hint });
    expect((await browser.open(`/session/end?${query.toString()}`)).status).toBe(400);
  });
});

describe('e2e/interop/gateway-identity/verify-statement.mjs', () => {
  const NAME = 'inventory';
  let whoAsks: ReturnType<typeof statementsOf>;
  let good: { header: Members; claims: Members };
  let key: KeyObject;

  beforeAll(async () => {
    const server = createServer((request, response) => {
      const known = request.url === '/.well-known/countersign-gateway/jwks';
      response.writeHead(known ? 200 : 404, { 'Content-Type': 'application/jwk-set+json' });
      response.end(JSON.stringify({ keys: keys.publicJwks }));
    }).listen(0, '127.0.0.1');
    parts.defer(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    whoAsks = statementsOf(flow.pair.resource, NAME, `http://127.0.0.1:${port}`);
    const said = await statement(NAME);
    good = { header: { ...decodeProtectedHeader(said) }, claims: decodeJwt(said) };
    key = keyOf(keys);
  });

  test('accepts a statement, and returns its caller', async () => {
    expect(await whoAsks(await statement(NAME))).toMatchObject({
      sub: machine.id,
      kind: 'application',
      scope: 'documents:read documents:write openid',
    });
    await expect(whoAsks(signJws(good.header, good.claims, key))).resolves.toBeDefined();
  });

  test('refuses everything that the authorization server or a client has made', async () => {
    const proof = await prover.proof({ method: 'GET', url: flow.pair.documents });
    const made = [await flow.pair.token(machine), ...Object.values(tokens), proof];
    for (const token of made) await expect(whoAsks(token)).rejects.toThrow();
    expect(tokens.id.split('.')).toHaveLength(3);
  });

  test.each(['at+jwt', 'JWT', 'dpop+jwt', 'logout+jwt', 'oauth-authz-req+jwt', undefined])(
    'RFC 8725 section 3.11: refuses the type %s, even with the right key',
    async (typ) => {
      const other = signJws({ ...good.header, typ }, good.claims, key);
      await expect(whoAsks(other)).rejects.toThrow('"typ"');
    },
  );

  test.each<[string, () => Members, RegExp]>([
    ['for another application', () => ({ aud: 'orders' }), /"aud"/],
    ['for nobody', () => ({ aud: undefined }), /"aud"/],
    ['of another gateway', () => ({ iss: 'https://evil.example' }), /"iss"/],
    ['that has ended', () => ({ exp: Date.now() / 1000 - 6 }), /"exp"/],
    ['that never ends', () => ({ exp: undefined }), /"exp"/],
    ['that is old', () => ({ iat: Date.now() / 1000 - 70 }), /"iat"/],
    ['of the future', () => ({ iat: Date.now() / 1000 + 10 }), /"iat"/],
    ['that names nobody', () => ({ sub: undefined }), /"sub"/],
  ])('refuses a statement %s', async (_, changes, reason) => {
    const other = signJws(good.header, { ...good.claims, ...changes() }, key);
    await expect(whoAsks(other)).rejects.toThrow(reason);
  });

  test('RFC 8725 section 3.1: refuses a statement of another key, without a signature, or with a secret', async () => {
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const own = { ...good.header, jwk: publicJwk(foreign.publicKey) };
    const hs256 = [{ ...good.header, alg: 'HS256' }, good.claims].map(base64url).join('.');
    const secret = JSON.stringify(keys.publicJwks[0]);
    const forged = [
      signJws(good.header, good.claims, foreign.privateKey),
      signJws(own, good.claims, foreign.privateKey),
      signJws({ ...good.header, kid: 'other' }, good.claims, key),
      `${[{ ...good.header, alg: 'none' }, good.claims].map(base64url).join('.')}.`,
      `${hs256}.${createHmac('sha256', secret).update(hs256).digest('base64url')}`,
      ofTokensKey(await statement(NAME)),
      '',
      undefined,
    ];
    for (const one of forged) await expect(whoAsks(one)).rejects.toThrow();
  });
});
