import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { CryptoKey, JSONWebKeySet } from 'jose';
import { readPublicKey } from '#shared/people/public-key.ts';
import { APP, asApp, basic, DOCUMENTS, SECRET, signer, testAuthz } from '../authz.fixture.ts';
import type { TestAuthz } from '../authz.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

/** Claims as an attacker may send them. */
type Claims = Record<string, unknown>;

const GRANT = { grant_type: 'client_credentials' };
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

let authz: TestAuthz;
let assertionKey: CryptoKey;

beforeAll(async () => {
  authz = await testAuthz();
  const pair = await generateKeyPair('ES256');
  assertionKey = pair.privateKey;
  await authz.stores.clients.add(await signer(pair.publicKey));
  await authz.stores.clients.add({
    ...APP,
    client_id: 'narrow',
    resources: ['https://rsa.example/'],
  });
  await authz.stores.clients.add({
    ...APP,
    client_id: 'nowhere',
    scope: 'openid',
    resources: ['https://removed.example/'],
  });
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

/** Verifies the signature with the published keys, as a resource server does. */
async function verified(token: unknown) {
  const keys = (await (await fetched(`${authz.url}/jwks`)).json()) as JSONWebKeySet;
  return jwtVerify(String(token), createLocalJWKSet(keys), {
    typ: 'at+jwt',
    issuer: authz.config.issuer,
  });
}

function assertion(claims: Claims = {}, header: Claims = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    iss: 'signer',
    sub: 'signer',
    aud: authz.config.issuer,
    jti: randomUUID(),
    exp: now + 60,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(assertionKey);
}

describe('RFC 6749 section 4.4: client credentials', () => {
  test('RFC 9068 section 2.2: the token is a JWT with these claims, and with our claims for revocation', async () => {
    const { status, body, headers } = await authz.post('/token', GRANT, asApp);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'documents:read' });
    expect(headers.get('cache-control')).toBe('no-store');
    const { payload, protectedHeader } = await verified(body['access_token']);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(payload).toEqual({
      iss: authz.config.issuer,
      aud: DOCUMENTS,
      sub: 'app',
      client_id: 'app',
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 600,
      jti: expect.any(String),
      scope: 'documents:read',
      client_gen: 0,
      epoch: await authz.stores.revocations.epoch(false),
    });
  });

  test('the client can also authenticate with client_secret_post', async () => {
    const { status } = await authz.post('/token', {
      ...GRANT,
      client_id: 'app',
      client_secret: SECRET,
    });
    expect(status).toBe(200);
  });

  test('RFC 7523: the client can authenticate with a JWT that it signed', async () => {
    const form = {
      ...GRANT,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await assertion(),
    };
    expect((await authz.post('/token', form)).status).toBe(200);
  });

  test.each([
    ['ES256', 'documents:write', DOCUMENTS],
    ['RS256', 'rsa', 'https://rsa.example/'],
    ['EdDSA', 'ed', 'https://ed.example/'],
  ])(
    'the algorithm %s signs if the resource requires it, and the scope alone finds the resource',
    async (alg, scope, aud) => {
      const { body } = await authz.post('/token', { ...GRANT, scope }, asApp);
      const { payload } = await verified(body['access_token']);
      expect(decodeProtectedHeader(String(body['access_token'])).alg).toBe(alg);
      expect(payload).toMatchObject({ aud, scope });
    },
  );

  test('RFC 8707 section 2: a bare origin names its resource with and without the slash', async () => {
    for (const resource of ['https://rsa.example', 'https://rsa.example/']) {
      const { body } = await authz.post('/token', { ...GRANT, scope: 'rsa', resource }, asApp);
      expect((await verified(body['access_token'])).payload.aud).toBe('https://rsa.example/');
    }
  });
});

describe('refusals of the token endpoint', () => {
  test.each<
    [string, Record<string, string> | [string, string][], Record<string, string>, number, string]
  >([
    ['a wrong secret', GRANT, basic('app', 'wrong'), 401, 'invalid_client'],
    ['the hash of the secret', GRANT, basic('app', APP.secret_hash ?? ''), 401, 'invalid_client'],
    ['an unknown client', GRANT, basic('nobody', SECRET), 401, 'invalid_client'],
    ['no client', GRANT, {}, 401, 'invalid_client'],
    ['no secret', { ...GRANT, client_id: 'app' }, {}, 401, 'invalid_client'],
    [
      'two ways of authentication',
      { ...GRANT, client_secret: SECRET },
      asApp,
      400,
      'invalid_request',
    ],
    [
      'another client_id in the form',
      { ...GRANT, client_id: 'narrow' },
      asApp,
      400,
      'invalid_request',
    ],
    ['malformed Basic', GRANT, { authorization: 'Basic !!' }, 400, 'invalid_request'],
    ['no grant_type', {}, asApp, 400, 'invalid_request'],
    ['an unknown grant', { grant_type: 'password' }, asApp, 400, 'unsupported_grant_type'],
    [
      'a scope twice',
      [
        ['grant_type', 'client_credentials'],
        ['scope', 'a'],
        ['scope', 'b'],
      ],
      asApp,
      400,
      'invalid_request',
    ],
    ['an unknown scope', { ...GRANT, scope: 'documents:admin' }, asApp, 400, 'invalid_scope'],
    [
      'a scope of another resource',
      { ...GRANT, scope: 'rsa', resource: DOCUMENTS },
      asApp,
      400,
      'invalid_scope',
    ],
    [
      'an unknown resource',
      { ...GRANT, resource: 'https://evil.example/' },
      asApp,
      400,
      'invalid_target',
    ],
    [
      'a resource with a fragment',
      { ...GRANT, resource: `${DOCUMENTS}#a` },
      asApp,
      400,
      'invalid_target',
    ],
    [
      'a resource not open to the client',
      { ...GRANT, scope: 'documents:read', resource: DOCUMENTS },
      basic('narrow', SECRET),
      400,
      'invalid_target',
    ],
    [
      'OpenID Connect alone, of a client to which no resource is open',
      { ...GRANT, scope: 'openid' },
      basic('nowhere', SECRET),
      400,
      'invalid_target',
    ],
    [
      'two resources',
      [
        ['grant_type', 'client_credentials'],
        ['scope', 'rsa'],
        ['resource', DOCUMENTS],
        ['resource', 'https://rsa.example/'],
      ],
      asApp,
      400,
      'invalid_target',
    ],
    [
      'scopes of two resources',
      { ...GRANT, scope: 'documents:read rsa' },
      asApp,
      400,
      'invalid_target',
    ],
    [
      'scopes of two resources, and one of nobody',
      { ...GRANT, scope: 'documents:read rsa x' },
      asApp,
      400,
      'invalid_scope',
    ],
    [
      'a grant that the client may not use',
      { grant_type: 'refresh_token', refresh_token: 'x' },
      asApp,
      400,
      'unauthorized_client',
    ],
    ['a scope with a quote', { ...GRANT, scope: 'a"b' }, asApp, 400, 'invalid_scope'],
    [
      'a scope that would break a field',
      { ...GRANT, scope: 'documents:read\r\nX: y' },
      asApp,
      400,
      'invalid_scope',
    ],
    [
      'an assertion that is no JWT',
      { ...GRANT, client_assertion_type: ASSERTION_TYPE, client_assertion: 'x.y' },
      {},
      400,
      'invalid_request',
    ],
    ['a secret from a client that signs', GRANT, basic('signer', 'x'), 401, 'invalid_client'],
  ])('a request is refused: %s', async (_what, form, fields, status, error) => {
    const answer = await authz.post('/token', form, fields);
    expect([answer.status, answer.body['error']]).toEqual([status, error]);
    expect(answer.body['error_description']).toEqual(expect.any(String));
  });

  const now = () => Math.floor(Date.now() / 1000);
  const asserted = async (...made: Parameters<typeof assertion>) => ({
    ...GRANT,
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await assertion(...made),
  });

  test.each<[string, () => Claims, Claims]>([
    ['that expired', () => ({ exp: now() - 60 }), {}],
    ['that outlives the memory of its use', () => ({ exp: now() + 7200 }), {}],
    ['for another audience', () => ({ aud: 'https://evil.example' }), {}],
    ['of another issuer', () => ({ iss: 'app' }), {}],
    ['without jti', () => ({ jti: undefined }), {}],
    ['for the token endpoint', () => ({ aud: `${authz.config.issuer}/token` }), {}],
    ['for us in a list', () => ({ aud: [authz.config.issuer] }), {}],
    ['for others as well', () => ({ aud: [authz.config.issuer, 'https://evil.example'] }), {}],
    ['of the future', () => ({ iat: now() + 1000 }), {}],
    ['that is a DPoP proof', () => ({}), { typ: 'dpop+jwt' }],
    ['that is an access token', () => ({}), { typ: 'at+jwt' }],
  ])(
    'an assertion %s is refused (RFC 7523 section 3, draft-ietf-oauth-rfc7523bis)',
    async (_w, claims, header) => {
      const answer = await authz.post('/token', await asserted(claims(), header));
      expect([answer.status, answer.body['error']]).toEqual([401, 'invalid_client']);
    },
  );

  test.each(['JWT', 'client-authentication+jwt', 'application/client-authentication+jwt'])(
    'an assertion of the type %s is accepted',
    async (typ) => {
      const form = await asserted({ iat: now() + 3 }, { typ });
      expect((await authz.post('/token', form)).status).toBe(200);
    },
  );

  test('tokens.assertionAudience lets older clients name the endpoint, but no other audience', async () => {
    await using older = await testAuthz({ tokens: { assertionAudience: 'endpoint' } });
    const found = await authz.stores.clients.get('signer');
    if (found) await older.stores.clients.add(found);
    const endpoint = `${older.config.issuer}/token`;
    const status = async (aud: unknown) =>
      (await older.post('/token', await asserted({ aud }))).status;
    expect(await status(endpoint)).toBe(200);
    expect(await status([older.config.issuer])).toBe(200);
    expect(await status([endpoint, 'https://evil.example'])).toBe(401);
    expect(await status('https://evil.example')).toBe(401);
  });

  test('for an unknown resource or scope the description lists the known ones', async () => {
    const target = await authz.post(
      '/token',
      { ...GRANT, resource: 'https://evil.example/' },
      asApp,
    );
    expect(target.body['error_description']).toContain(DOCUMENTS);
    const scope = await authz.post('/token', { ...GRANT, scope: 'x', resource: DOCUMENTS }, asApp);
    expect(scope.body['error_description']).toContain('documents:read, documents:write');
  });
});

describe('RFC 9449: tokens that are bound to a key', () => {
  async function proof(claims: Claims = {}, alg = 'ES256') {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    return new SignJWT({
      htm: 'POST',
      htu: `${authz.config.issuer}/token`,
      jti: randomUUID(),
      iat: Math.floor(Date.now() / 1000),
      ...claims,
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk: await exportJWK(publicKey) })
      .sign(privateKey);
  }

  test.each(['ES256', 'Ed25519', 'RS256'])(
    'section 5: a proof of %s binds the token',
    async (alg) => {
      const { body } = await authz.post('/token', GRANT, { ...asApp, dpop: await proof({}, alg) });
      expect(body['token_type']).toBe('DPoP');
      const { payload } = await verified(body['access_token']);
      expect(payload['cnf']).toEqual({ jkt: expect.stringMatching(/^[\w-]{43}$/) });
    },
  );

  test.each([
    ['for another method', { htm: 'GET' }],
    ['for another address', { htu: 'https://evil.example/token' }],
    ['for the address that Host names', { htu: 'http://127.0.0.1/token' }],
    ['without jti', { jti: undefined }],
  ])('section 4.3: a proof %s is refused', async (_what, claims) => {
    const answer = await authz.post('/token', GRANT, { ...asApp, dpop: await proof(claims) });
    expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_dpop_proof']);
  });

  test('section 11.1: a proof is valid for one request of any client', async () => {
    await authz.stores.clients.add({ ...APP, client_id: 'another' });
    const dpop = await proof();
    expect((await authz.post('/token', GRANT, { ...asApp, dpop })).status).toBe(200);
    for (const client of [asApp, basic('another', SECRET)]) {
      const { status, body } = await authz.post('/token', GRANT, { ...client, dpop });
      expect([status, body['error']]).toEqual([400, 'invalid_dpop_proof']);
    }
  });

  test('section 11.1: a proof that was sent with a wrong secret is still valid', async () => {
    const dpop = await proof();
    expect((await authz.post('/token', GRANT, { ...basic('app', 'x'), dpop })).status).toBe(401);
    expect((await authz.post('/token', GRANT, { ...asApp, dpop })).status).toBe(200);
  });

  test.each(['ES256', 'Ed25519', 'RS256'])(
    'RFC 9729 section 8: a key of %s that is registered for sign-in makes no proof, and only the key decides this',
    async (alg) => {
      const { publicKeys } = authz.stores;
      const dpop = await proof({}, alg);
      const jwk = decodeProtectedHeader(dpop).jwk ?? {};
      const key = readPublicKey(Buffer.from(JSON.stringify(jwk)), 'Concealed');
      const owner = { kind: 'application', id: 'App' } as const;
      const record = { ...key, scheme: 'Concealed', owner, name: 'x', created_at: 1 } as const;
      expect(await publicKeys.add(record, 20)).toBe('added');
      const refused = await authz.post('/token', GRANT, { ...asApp, dpop });
      expect([refused.status, refused.body['error']]).toEqual([400, 'invalid_dpop_proof']);
      const another = await authz.post('/token', GRANT, { ...asApp, dpop: await proof({}, alg) });
      expect(another.status).toBe(200);
      await publicKeys.remove(key.id);
      expect((await authz.post('/token', GRANT, { ...asApp, dpop })).status).toBe(200);
    },
  );

  /** Returns the number that has this many bits, all of which are 1. */
  const ones = (bits: number) => Buffer.alloc(bits / 8, 255).toString('base64url');

  test.each([
    ['that is too long', 16_384, 24],
    ['that is too short', 1024, 24],
    ['with an exponent that costs as much as a signature', 3072, 3064],
  ])(
    'a client cannot choose the work of the server: a proof by an RSA key %s is not verified',
    async (_, bits, ofExponent) => {
      const jwk = { kty: 'RSA', n: ones(bits), e: ones(ofExponent) };
      const parts = [{ typ: 'dpop+jwt', alg: 'RS256', jwk }, { htm: 'POST' }].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      const dpop = `${parts.join('.')}.${ones(bits)}`;
      for (const path of ['/token', '/request']) {
        const { status, body } = await authz.post(path, GRANT, { ...asApp, dpop });
        expect([path, status, body]).toEqual([
          path,
          400,
          {
            error: 'invalid_dpop_proof',
            error_description:
              'a key of RSA has 2048 to 4096 bits: make a key of this size, or of ES256',
          },
        ]);
      }
    },
  );

  test('other endpoints ignore the DPoP field', async () => {
    const form = { token: 'x' };
    expect((await authz.post('/token/revocation', form, { ...asApp, dpop: 'x' })).status).toBe(200);
  });

  test('section 8: a client with an old proof is told to use a nonce, and succeeds with it', async () => {
    const old = { iat: Math.floor(Date.now() / 1000) - 3600 };
    const first = await authz.post('/token', GRANT, { ...asApp, dpop: await proof(old) });
    expect([first.status, first.body['error']]).toEqual([400, 'use_dpop_nonce']);
    const nonce = first.headers.get('dpop-nonce') ?? '';
    const second = await authz.post('/token', GRANT, { ...asApp, dpop: await proof({ nonce }) });
    expect(second.status).toBe(200);
  });
});

test('section 8: a server that requires nonces refuses a proof without one', async () => {
  await using strict = await testAuthz({ tokens: { nonce: true } });
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const dpop = await new SignJWT({
    htm: 'POST',
    htu: `${strict.config.issuer}/token`,
    jti: randomUUID(),
  })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) })
    .setIssuedAt()
    .sign(privateKey);
  const answer = await strict.post('/token', GRANT, { ...asApp, dpop });
  expect(answer.body['error']).toBe('use_dpop_nonce');
});

describe('limits (RFC 6585 section 4)', () => {
  const rate = { burst: 3, per: 60 };

  test('a client over its limit gets the time to wait, and no other client can use up the limit', async () => {
    await using limited = await testAuthz({ limits: { client: rate } });
    for (let wrong = 0; wrong < 5; wrong += 1) {
      expect((await limited.post('/token', GRANT, basic('app', 'wrong'))).status).toBe(401);
    }
    for (let right = 0; right < 3; right += 1) {
      expect((await limited.post('/token', GRANT, asApp)).status).toBe(200);
    }
    const { status, headers } = await limited.post('/token', GRANT, asApp);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('RFC 7523 section 3: a replayed assertion uses up no limit', async () => {
    await using limited = await testAuthz({ limits: { client: rate } });
    const found = await authz.stores.clients.get('signer');
    if (found) await limited.stores.clients.add(found);
    const form = async () => ({
      ...GRANT,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await assertion(),
    });
    const captured = await form();
    expect((await limited.post('/token', captured)).status).toBe(200);
    // The limit must not be taken and given back either: for a moment, many requests could block the client.
    const giveBack = () => Promise.reject(new Error('something was taken'));
    Object.assign(limited.stores.limits, { giveBack });
    for (let replay = 0; replay < 5; replay += 1) {
      expect((await limited.post('/token', captured)).status).toBe(401);
    }
    for (const status of [200, 200, 429]) {
      expect((await limited.post('/token', await form())).status).toBe(status);
    }
  });

  test.each(['/token/introspection', '/token/revocation'])(
    'at %s an assertion counts against the limit, since it is remembered, and a secret does not',
    async (path) => {
      await using limited = await testAuthz({ limits: { client: rate } });
      const found = await authz.stores.clients.get('signer');
      if (found) await limited.stores.clients.add(found);
      const told: unknown[] = [];
      let signed = {};
      for (let n = 0; n < 4; n += 1) {
        signed = {
          token: 'x',
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await assertion(),
        };
        const { status, headers } = await limited.post(path, signed);
        const bySecret = await limited.post(path, { token: 'x' }, asApp);
        told.push([status, headers.has('retry-after'), bySecret.status]);
      }
      const served = [200, false, 200];
      expect(told).toEqual([served, served, served, [429, true, 200]]);
      // The last request left no row, so the assertion can be sent again.
      await limited.stores.limits.giveBack('client', 'signer', rate);
      expect((await limited.post(path, signed)).status).toBe(200);
    },
  );

  test('an address over its limit is refused, whatever it forges', async () => {
    await using limited = await testAuthz({ limits: { address: rate } });
    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const fields = {
        ...asApp,
        'x-forwarded-for': `192.0.2.${turn}`,
        forwarded: `for=192.0.2.${turn}`,
      };
      statuses.push((await limited.post('/token', GRANT, fields)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  test('behind a trusted proxy each address has its own limit, read from the right', async () => {
    await using limited = await testAuthz({
      limits: { address: rate },
      trustedProxies: ['127.0.0.0/8'],
    });
    const from = (address: string) =>
      limited.post('/token', GRANT, { ...asApp, 'x-forwarded-for': `10.9.9.9, ${address}` });
    for (let turn = 0; turn < 3; turn += 1) expect((await from('192.0.2.1')).status).toBe(200);
    expect((await from('192.0.2.1')).status).toBe(429);
    expect((await from('192.0.2.2')).status).toBe(200);
  });
});

describe('RFC 6749 section 3.3: a space without scopes', () => {
  const OPEN = 'https://open.example/';
  const LISTED = 'https://listed.example/';
  const space = (url: string, more: object = {}) => ({
    url,
    realm: url,
    schemes: ['Bearer', 'DPoP'],
    serves: 'verify',
    ...more,
  });
  const spaces = [
    space('https://scoped.example/', { scopes: { safe: ['documents:read'] } }),
    space(OPEN),
    space(LISTED, { allow: { clients: ['listed'] } }),
  ];
  const REGISTERED = { ...APP, client_id: 'registered', scope: '', resources: [OPEN] };
  const { default_scope: _, ...LISTED_APP } = { ...APP, client_id: 'listed', scope: '' };

  test.each([true, false])(
    'a machine that the space names gets a token without scope; tokens.direct: %p',
    async (direct) => {
      await using open = await testAuthz({ spaces, tokens: { direct } });
      for (const client of [{ ...REGISTERED, default_scope: '' }, LISTED_APP]) {
        await open.stores.clients.add(client);
      }
      const ask = (id: string, more: Record<string, string> = {}) =>
        open.post('/token', { ...GRANT, ...more }, basic(id, SECRET));
      for (const [id, more, aud] of [
        ['registered', {}, OPEN],
        ['registered', { resource: OPEN }, OPEN],
        ['listed', { resource: LISTED }, LISTED],
      ] as const) {
        const { status, body } = await ask(id, more);
        expect([status, Object.keys(body)]).toEqual([
          200,
          ['access_token', 'expires_in', 'token_type'],
        ]);
        const claims = decodeJwt(String(body['access_token']));
        expect(claims).toMatchObject({ aud, client_id: id });
        expect(claims).not.toHaveProperty('scope');
      }
      for (const [id, more, error] of [
        ['app', { resource: OPEN }, 'invalid_scope'],
        ['listed', { resource: OPEN }, 'invalid_scope'],
        ['registered', { resource: LISTED }, 'invalid_target'],
        ['registered', { scope: 'documents:read' }, 'invalid_scope'],
        ['listed', { resource: 'https://scoped.example/' }, 'invalid_scope'],
      ] as const) {
        expect([id, (await ask(id, more)).body['error']]).toEqual([id, error]);
      }
    },
  );
});

test('a demo client is unknown in production', async () => {
  await using production = await testAuthz({
    issuer: 'https://auth.example',
    resource: 'https://api.example',
  });
  await production.stores.clients.add({ ...APP, client_id: 'demo', demo: true });
  expect((await production.post('/token', GRANT, basic('demo', SECRET))).status).toBe(401);
  expect((await production.post('/token', GRANT, asApp)).status).toBe(200);
});
