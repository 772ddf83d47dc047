import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  issuerAndVerifier,
  memoryReplay,
  prover,
  requestOf,
  SPACE,
} from '#shared/auth/judge/auth.fixture.ts';
import { bearer } from '#shared/auth/schemes/bearer/bearer.ts';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { signedBy, testKey } from '#shared/gnap/client.fixture.ts';
import { signJws } from '#shared/jose/jws.fixture.ts';
import { APP, asApp } from '../authz.fixture.ts';
import {
  ask,
  deliver,
  given,
  gnap,
  INACTIVE,
  introspect,
  isActive,
  MAILS,
  manage,
  nonce,
  refusedWith,
  send,
  SERVER,
  tokenOf,
  WHO,
} from './attacks.fixture.ts';
import { CALLBACK, PHOTOS, READ } from './gnap.fixture.ts';

describe('RFC 9767 section 3.3: introspection', () => {
  test('an unregistered resource server gets no information', async () => {
    const { told } = await given();
    const stranger = testKey('stranger');
    const answer = await introspect(tokenOf(told), {}, stranger);
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect(answer.body).toEqual(INACTIVE);
  });

  test('a client gets no information, not even about its own tokens', async () => {
    const machine = testKey('machine');
    await gnap.register(machine);
    const told = await ask(READ, machine);
    expect((await introspect(tokenOf(told), {}, machine)).body).toEqual(INACTIVE);
  });

  test('a resource server gets no information about tokens for other resource servers', async () => {
    const { told } = await given();
    const mails = testKey('mails');
    await gnap.register(mails, { introspects: [MAILS], grant_types: [] });
    expect((await introspect(tokenOf(told), {}, mails)).body).toEqual(INACTIVE);
    expect((await introspect(tokenOf(told))).body).toMatchObject({ active: true, aud: PHOTOS });
  });

  test('a proof by another key is refused, and a request is accepted once', async () => {
    const { told } = await given();
    const thief = testKey('rs', 'ES256');
    await introspect('x');
    const json = { access_token: tokenOf(told), resource_server: { key: SERVER.byValue } };
    expect(await send('/gnap/introspect', { json }, thief)).toMatchObject(
      refusedWith('invalid_client'),
    );
    const url = `${gnap.issuer}/gnap/introspect`;
    const request = signedBy(SERVER, { method: 'POST', url, json }, gnap.now());
    expect((await deliver('/gnap/introspect', request)).body).toMatchObject({ active: true });
    expect(await deliver('/gnap/introspect', request)).toMatchObject(refusedWith('invalid_client'));
  });

  test.each<[string, unknown, boolean]>([
    ['the access that it has', ['photos:read'], true],
    ['the object that it has', [{ type: 'photo-api', actions: ['read'], identifier: 'a' }], true],
    ['nothing', [], true],
    ['other access', ['photos:write'], false],
    ['other access beside', ['photos:read', 'photos:write'], false],
    ['another identifier', [{ type: 'photo-api', actions: ['read'], identifier: 'b' }], false],
    ['no identifier', [{ type: 'photo-api', actions: ['read'] }], false],
    ['another action', [{ type: 'photo-api', actions: ['write'], identifier: 'a' }], false],
    [
      'one action more',
      [{ type: 'photo-api', actions: ['read', 'write'], identifier: 'a' }],
      false,
    ],
    ['actions that are a text', [{ type: 'photo-api', actions: 'read', identifier: 'a' }], false],
    [
      'actions that are an object',
      [{ type: 'photo-api', actions: { length: 0 }, identifier: 'a' }],
      false,
    ],
    [
      'a member more',
      [{ type: 'photo-api', actions: ['read'], identifier: 'a', datatypes: ['x'] }],
      false,
    ],
    ['a part of a reference', ['photos'], false],
    ['an empty object', [{}], false],
  ])('for a question about %s (%j) the answer is active: %s', async (_, access, active) => {
    const rights = ['photos:read', { type: 'photo-api', actions: ['read'], identifier: 'a' }];
    const { told } = await given({ access_token: { access: rights } });
    const { body } = await introspect(tokenOf(told), { access });
    expect(body.active).toBe(active);
  });

  test.each<[string, unknown]>([
    ['mtls', 'mtls'],
    ['jwsd', 'jwsd'],
    ['nothing', ''],
    ['a list', ['httpsig']],
    ['null', null],
  ])('with the proof %s a bound token is inactive', async (_, proof) => {
    const { told } = await given();
    const { status, body } = await introspect(tokenOf(told), { proof });
    if (status === 200) expect(body).toEqual(INACTIVE);
    else expect(status).toBe(400);
  });

  test('with the proof httpsig a bearer token is inactive', async () => {
    const machine = testKey('machine');
    await gnap.register(machine, { gnap: { key: machine.byValue, bearer: true } });
    const told = await ask(
      { access_token: { access: ['photos:read'], flags: ['bearer'] } },
      machine,
    );
    expect((await introspect(tokenOf(told), { proof: 'httpsig' })).body).toEqual(INACTIVE);
    expect((await introspect(tokenOf(told))).body).toMatchObject({
      active: true,
      flags: ['bearer'],
    });
  });

  test('tokens of other protocols are inactive', async () => {
    await gnap.flow.authz.stores.clients.add({ ...APP, client_id: 'oauth', scope: 'photos:read' });
    const { told, asked } = await given({ ...READ, ...WHO });
    const form = { grant_type: 'client_credentials', scope: 'photos:read', resource: PHOTOS };
    const { authorization } = asApp;
    const oauth = await gnap.flow.authz.post('/token', form, {
      authorization: authorization.replace(
        /.*/,
        `Basic ${Buffer.from('oauth:a%20secret%20of%20the%20test').toString('base64')}`,
      ),
    });
    const tokens = [
      String(oauth.body['access_token']),
      asked.body.continue.access_token.value,
      told.body.access_token.manage.access_token.value,
      told.body.subject.assertions[0]?.value ?? '',
      'x',
      '..',
    ];
    expect(tokens[0]).toMatch(/^eyJ/);
    for (const token of tokens) expect((await introspect(token)).body).toEqual(INACTIVE);
  });

  test('an expired token is inactive', async () => {
    const { told } = await given();
    gnap.flow.clock.advance(700);
    expect((await introspect(tokenOf(told))).body).toEqual(INACTIVE);
  });
});

describe('clients and tokens of GNAP at the endpoints of OAuth', () => {
  test('a GNAP client is not accepted as an OAuth client, although it has no secret', async () => {
    const { client_id } = await gnap.register(gnap.key);
    const { authz, browser } = gnap.flow;
    const forms: readonly (readonly [string, Record<string, string>])[] = [
      [
        '/token',
        { grant_type: 'client_credentials', client_id, scope: 'photos:read', resource: PHOTOS },
      ],
      [
        '/token',
        { grant_type: 'authorization_code', client_id, code: 'x', redirect_uri: CALLBACK },
      ],
      ['/device/auth', { client_id, scope: 'photos:read', resource: PHOTOS }],
      ['/request', { client_id, response_type: 'code', redirect_uri: CALLBACK }],
      ['/token/introspection', { client_id, token: 'x' }],
      ['/token/revocation', { client_id, token: 'x' }],
    ];
    for (const [path, form] of forms) {
      const { status, body } = await authz.post(path, form);
      expect([path, [400, 401, 404].includes(status)]).toEqual([path, true]);
      expect(body).not.toHaveProperty('access_token');
    }
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'photos:read',
    });
    const page = await browser().open(`/auth?${query.toString()}`);
    expect(page.status).toBe(400);
    expect(page.headers.get('location')).toBeNull();
  });

  test('RFC 7662: tokens that are bound to a key of GNAP are inactive', async () => {
    const { introspects, ...more } = { ...APP, introspects: [PHOTOS, MAILS] };
    await gnap.flow.authz.stores.clients.add({
      ...more,
      introspects,
      client_id: 'api',
      grant_types: [],
    });
    const { told } = await given();
    const authorization = `Basic ${Buffer.from('api:a%20secret%20of%20the%20test').toString('base64')}`;
    const ofOAuth = async (token: string) =>
      (await gnap.flow.authz.post('/token/introspection', { token }, { authorization })).body;
    const { manage: own } = told.body.access_token;
    for (const token of [told.body.continue.access_token.value, own.access_token.value]) {
      expect(await ofOAuth(token)).toEqual(INACTIVE);
    }
    // An OAuth resource server would ignore a key that it does not know.
    expect(await ofOAuth(tokenOf(told))).toEqual(INACTIVE);
  });

  test('RFC 7009: a client of OAuth revokes no token of GNAP', async () => {
    const { told } = await given();
    const { manage: own } = told.body.access_token;
    const tokens = [tokenOf(told), own.access_token.value, told.body.continue.access_token.value];
    for (const token of tokens) await gnap.flow.authz.post('/token/revocation', { token }, asApp);
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
    expect((await manage(told)).status).toBe(200);
  });

  test('a GNAP token is refused at UserInfo', async () => {
    await gnap.register(gnap.key, { gnap: { key: gnap.key.byValue, bearer: true } });
    const access_token = { access: ['photos:read'], flags: ['bearer'] };
    const { told } = await given({ access_token, ...WHO });
    const tokens = [
      tokenOf(told),
      told.body.continue.access_token.value,
      told.body.access_token.manage.access_token.value,
    ];
    for (const token of tokens) expect([401, 403]).toContain(await gnap.flow.userinfo(token));
  });
});

describe('RFC 9635 section 7.2: tokens of GNAP at the schemes of OAuth', () => {
  const OF_SPACE = 'https://rs.example/documents/';
  const certificate = Buffer.from('a certificate');

  function schemes() {
    const parties = issuerAndVerifier();
    const { tokens, clock, now, token: issue } = parties;
    const replay = memoryReplay(clock);
    const key = testKey('k1', 'ES256');
    const bind = (cnf: object) => issue({ cnf, access: [] }, { typ: 'gnap-at+jwt' });
    const ofKey = bind({ jwk: key.byValue.jwk });
    const ofCertificate = bind({ 'x5t#S256': hash('sha256', certificate, 'base64url') });
    const shown = ['client-cert', `:${certificate.toString('base64')}:`] as const;
    const asked = { method: 'GET', url: `${OF_SPACE}a`, scheme: 'Bearer', token: ofKey };
    const signature = Object.entries(signedBy(key, asked, now()).fields);
    return {
      ...parties,
      key,
      ofKey,
      ofCertificate,
      unbound: issue({ access: [] }, { typ: 'gnap-at+jwt' }),
      fields: [...signature, shown],
      asBearer: bearer({ space: SPACE, tokens }),
      asDpop: oauthSchemes({ tokens, proofs: replay, master: Buffer.alloc(32), clock }).dpop({
        ...SPACE,
        nonce: false,
      }),
    };
  }
  const shows = (scheme: string, token: string) => ({ scheme, rest: token, token68: token });

  test('a bound token as Bearer is refused, also with its proof', async () => {
    const { asBearer, ofKey, ofCertificate, fields } = schemes();
    for (const token of [ofKey, ofCertificate]) {
      for (const some of [[], fields]) {
        const peer = { ...requestOf().peer, trusted: true };
        expect(
          await asBearer.authenticate(shows('bearer', token), requestOf(some, { peer })),
        ).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/bound to a key/) });
      }
    }
  });

  test('a bound token as DPoP is refused, even with a DPoP proof of its key', async () => {
    const { asDpop, ofKey, ofCertificate, unbound, key, now } = schemes();
    const { kty, crv, x, y } = key.byValue.jwk;
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } };
    for (const token of [ofKey, ofCertificate, unbound]) {
      const ath = hash('sha256', token, 'base64url');
      const claims = { jti: nonce(), htm: 'GET', htu: `${OF_SPACE}a`, iat: now(), ath };
      for (const proof of [signJws(header, claims, key.privateKey), prover(now).proof(token)]) {
        const request = requestOf([['DPoP', proof]]);
        expect(await asDpop.authenticate(shows('dpop', token), request)).toMatchObject({
          kind: 'refused',
        });
      }
    }
  });

  test('a token with the flag bearer is accepted as Bearer', async () => {
    const { asBearer, unbound } = schemes();
    expect(await asBearer.authenticate(shows('bearer', unbound), requestOf())).toMatchObject({
      kind: 'granted',
    });
  });
});
