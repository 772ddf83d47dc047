import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { ask as askExactly } from '#shared/server/wire/ask.fixture.ts';
import { withRemedy } from '../base/remedies.ts';
import { storedId } from '../engine/storage/stored-id.ts';
import { asApp, basic, DOCUMENTS, SECRET, signer } from './authz.fixture.ts';
import type { TestBrowser } from './browser.fixture.ts';
import { sent, testFlow } from './code-flow.fixture.ts';
import type { TestFlow } from './code-flow.fixture.ts';
import { fetched } from './fetched.fixture.ts';

type Form = Readonly<Record<string, string>>;
type Line = Readonly<Record<string, unknown>>;

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

const MODES = [
  ['development', { clients: { documents: { hosts: ['app.example'] } } }],
  ['production', { issuer: 'https://auth.example', resource: 'https://api.example' }],
] as const;

describe.each(MODES)('mode: %s', (mode, settings) => {
  const lines: string[] = [];
  const log = jsonLog((line) => void lines.push(line), systemClock, 'authz');
  const development = mode === 'development';
  let flow: TestFlow;
  let browser: TestBrowser;
  let signing: Awaited<ReturnType<typeof generateKeyPair>>;

  beforeAll(async () => {
    flow = await testFlow(settings, systemClock, log);
    browser = await flow.signedIn();
    await flow.allow(browser);
    signing = await generateKeyPair('ES256');
    await flow.stores.clients.add(await signer(signing.publicKey));
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  const newCode = async (parameters: Form = {}) =>
    (await flow.allow(browser, parameters)).get('code') ?? '';
  const newRefreshToken = async (parameters: Form = {}, fields: Record<string, string> = {}) => {
    const { body } = await flow.redeem(await newCode(parameters), {}, fields);
    return String(body['refresh_token']);
  };
  const refused = (description: string) => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: description },
  });

  /** Returns the log line of a request, by the id in its answer. */
  async function lineOf(headers: Headers): Promise<Line> {
    const id = headers.get('x-request-id') ?? 'none';
    for (;;) {
      const found = lines.find((line) => line.includes('"request"') && line.includes(`"${id}"`));
      if (found !== undefined) return JSON.parse(found) as Line;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Moves the expiry of an engine artefact to the past, while the store still has it. */
  async function expire(kind: string, id: string): Promise<void> {
    const stored = storedId(kind, id);
    const payload = (await flow.stores.artefacts.get(kind, stored)) ?? {};
    await flow.stores.artefacts.put({
      kind,
      id: stored,
      payload: { ...payload, exp: 1 },
      seconds: 60,
    });
  }

  async function prover() {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const claims = () => ({
      htm: 'POST',
      htu: `${flow.config.issuer}/token`,
      jti: randomUUID(),
      iat: Math.floor(Date.now() / 1000),
    });
    return {
      jkt: await calculateJwkThumbprint(jwk),
      proof: async (more: object = {}) =>
        new SignJWT({ ...claims(), ...more })
          .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
          .sign(privateKey),
    };
  }

  test.each<[string, (of: TestFlow) => Promise<Told>, description: string, logged: string]>([
    [
      'a wrong code_verifier',
      async (of) => of.redeem(await newCode(), { code_verifier: 'w'.repeat(43) }),
      'code_verifier does not fit the code_challenge of the authorization request (S256). Keep the code_verifier until the code arrives.',
      'code_verifier does not match code_challenge',
    ],
    [
      'no code_verifier',
      async (of) => of.redeem(await newCode(), { code_verifier: '' }),
      'code_verifier is missing: the authorization request had a code_challenge. Send its code_verifier.',
      'code_verifier must be provided',
    ],
    [
      'a code that was used before',
      async (of) => {
        const code = await newCode();
        await of.redeem(code);
        return of.redeem(code);
      },
      'The code was used before, so its grant has ended. Send each code once, and begin again at /auth.',
      'authorization code already consumed',
    ],
    [
      'an unknown code',
      (of) => of.redeem('c'.repeat(43)),
      'The code is unknown: it was changed on its way, has expired long ago, or its grant has ended. Begin again at /auth.',
      'authorization code not found',
    ],
    [
      'a code that has expired',
      async (of) => {
        const code = await newCode();
        await expire('AuthorizationCode', code);
        return of.redeem(code);
      },
      'The code has expired. Ask for another at /auth.',
      'authorization code is expired',
    ],
    [
      'another redirect_uri',
      async (of) => of.redeem(await newCode(), { redirect_uri: 'https://app.example/other' }),
      'redirect_uri is not the one of the authorization request. Send the same redirect_uri.',
      'authorization code redirect_uri mismatch',
    ],
    [
      'a code of another client',
      async (of) => of.redeem(await newCode(), { client_id: 'native' }),
      'The code was issued to another client. Send the client_id of the authorization request.',
      'client mismatch',
    ],
    [
      'a refresh token that was used before',
      async (of) => {
        const token = await newRefreshToken();
        const { body } = await of.refresh(token);
        await of.refresh(String(body['refresh_token']));
        return of.refresh(token);
      },
      'The refresh token was used before: a newer one has replaced it. Its grant has ended. Keep each new token, and begin again at /auth.',
      'refresh token already used',
    ],
    [
      'a refresh token of another client',
      async (of) => of.refresh(await newRefreshToken(), { client_id: 'native' }),
      'The refresh token was issued to another client. Use the client that got the token.',
      'client mismatch',
    ],
    [
      'an unknown refresh token',
      (of) => of.refresh('r'.repeat(43)),
      'The refresh token is unknown: it was changed on its way, has expired long ago, or its grant has ended. Begin again at /auth.',
      'refresh token not found',
    ],
    [
      'a refresh token that is bound to a key, without a proof',
      async (of) => {
        const { proof } = await prover();
        return of.refresh(await newRefreshToken({}, { dpop: await proof() }));
      },
      'The refresh token is bound to a key: send a DPoP proof that is signed with it.',
      'failed jkt verification',
    ],
    [
      'a code of a request with dpop_jkt, without a proof',
      async (of) => of.redeem(await newCode({ dpop_jkt: (await prover()).jkt })),
      'The field DPoP is missing: the authorization request had dpop_jkt. Send a DPoP proof.',
      'missing DPoP proof JWT',
    ],
  ])('POST /token with %s', async (_what, ask, description, logged) => {
    const { status, headers, body } = await ask(flow);
    expect({ status, body }).toEqual(
      refused(development ? description : withRemedy('grant request is invalid')),
    );
    expect(description).toMatch(/^[ !#-[\]-~]+$/); // RFC 6749 section 5.2
    expect(await lineOf(headers)).toMatchObject({ status, reason: `invalid_grant: ${logged}` });
  });

  test.each([
    ['htm', { htm: 'GET' }, 'DPoP proof htm mismatch'],
    ['htu', { htu: 'https://x.example/token' }, 'DPoP proof htu mismatch'],
    ['iat', { iat: 5 }, 'DPoP proof iat is not recent enough, use a DPoP nonce instead'],
    ['nonce', { nonce: 'n' }, 'invalid nonce in DPoP proof'],
  ])('POST /token with a DPoP proof whose %s is wrong', async (_what, claims, description) => {
    const { proof } = await prover();
    const form = { grant_type: 'client_credentials' };
    const { body, headers } = await flow.post('/token', form, {
      ...asApp,
      dpop: await proof(claims),
    });
    expect(body['error_description']).toBe(withRemedy(description));
    expect((await lineOf(headers))['reason']).toContain(description);
  });

  test('POST /token with a DPoP proof whose signature is wrong', async () => {
    const { proof } = await prover();
    const form = { grant_type: 'client_credentials' };
    const dpop = (await proof()).replace(/.{8}$/, 'AAAAAAAA');
    const { body, headers } = await flow.post('/token', form, { ...asApp, dpop });
    const usual = withRemedy('invalid DPoP key binding');
    const why = 'signature verification failed';
    expect(body['error_description']).toBe(development ? `${usual} (${why})` : usual);
    expect((await lineOf(headers))['reason']).toBe(`invalid_dpop_proof: ${why}`);
  });

  test.each([
    ['iat', 80, 'iat is \\d+ s in the future'],
    ['nbf', 80, 'nbf is \\d+ s in the future'],
    ['exp', -80, 'exp is \\d+ s in the past'],
  ])('POST /token with an assertion from a different clock: %s', async (claim, apart, told) => {
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, exp: now + 60, [claim]: now + apart };
    const assertion = new SignJWT({ iss: 'signer', sub: 'signer', jti: randomUUID(), ...times });
    const { body, headers } = await flow.post('/token', {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertion
        .setAudience(flow.config.issuer)
        .setProtectedHeader({ alg: 'ES256' })
        .sign(signing.privateKey),
    });
    const usual = 'client authentication failed';
    const why = `the assertion's ${told}: compare the clocks of client and server`;
    expect(body).toEqual({
      error: 'invalid_client',
      error_description: expect.stringMatching(
        development ? `^${usual}: ${why}$` : `^${withRemedy(usual)}$`,
      ),
    });
    expect((await lineOf(headers))['reason']).toMatch(new RegExp(`^invalid_client: ${why}$`));
  });

  test('no answer reveals whether a client exists, and the log names the client', async () => {
    const form = { grant_type: 'client_credentials' };
    const answers = [
      await flow.post('/token', form, basic('nobody', SECRET)),
      await flow.post('/token', form, basic('app', 'a-wrong-secret')),
      await flow.post('/token', { ...form, client_id: 'nobody', client_secret: SECRET }),
    ];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        401,
        { error: 'invalid_client', error_description: withRemedy('client authentication failed') },
      ]);
    }
    const reasons = [];
    for (const { headers } of answers) reasons.push((await lineOf(headers))['reason']);
    expect(reasons).toEqual([
      'invalid_client: client not found: nobody',
      'invalid_client: invalid secret provided',
      'invalid_client: client not found: nobody',
    ]);
  });

  test('GET /auth with an unknown client: the log names the client', async () => {
    const page = await flow.browser().open(flow.authorize({ client_id: 'nobody' }));
    expect(page.status).toBe(400);
    expect(page.text).not.toContain('client not found');
    expect((await lineOf(page.headers))['reason']).toBe('invalid_client: client not found: nobody');
  });

  test('GET /auth with a document at a host that is not permitted: the log has the reason, and in development the page, too', async () => {
    const client_id = 'https://localhost:8443/client.json';
    const why = development
      ? 'localhost is not in clients.documents.hosts'
      : 'clients.documents is off';
    const page = await flow.browser().open(flow.authorize({ client_id }));
    expect(page.status).toBe(400);
    expect(page.text.includes(`invalid_client: client is invalid: ${why}`)).toBe(development);
    expect(page.text.includes('clients.documents')).toBe(development);
    expect((await lineOf(page.headers))['reason']).toBe(
      `invalid_client: client not found: ${client_id}: ${why}`,
    );
  });

  test('no answer reveals whether a device code exists', async () => {
    const { body } = await flow.post('/device/auth', { client_id: 'tv', scope: 'documents:read' });
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    await flow.stores.clients.add({
      ...(await flow.stores.clients.get('tv'))!,
      client_id: 'another-tv',
    });
    for (const device_code of [String(body['device_code']), 'd'.repeat(43)]) {
      const answer = await flow.post('/token', {
        grant_type,
        client_id: 'another-tv',
        device_code,
      });
      expect(answer).toMatchObject(refused(withRemedy('grant request is invalid')));
    }
  });

  const SENT = 'https://user:pw@evil.example/back?code=secret';

  test('after a wrong redirect_uri the log has the URI, and in development the page, too', async () => {
    const request = flow.authorize({ redirect_uri: SENT });
    const page = await flow.browser().open(request);
    expect(page.status).toBe(400);
    expect(page.text.includes('https://user:pw@evil.example/back')).toBe(development);
    expect(page.text).not.toContain('href="https://user');
    const { reason } = await lineOf(page.headers);
    expect(reason).toMatch(/^invalid_redirect_uri: .*: https:\/\/evil\.example\/back$/);
  });

  test('after a wrong redirect_uri in a pushed request the log has the URI, and in development the answer, too', async () => {
    const { searchParams } = new URL(flow.authorize({ redirect_uri: SENT }));
    const answer = await flow.post('/request', Object.fromEntries(searchParams));
    expect(answer.body['error']).toBe('invalid_request');
    const usual = withRemedy(
      "redirect_uri did not match any of the client's registered redirect_uris",
    );
    expect(answer.body['error_description']).toBe(
      development ? `${usual}; the request has: ${SENT}` : usual,
    );
    expect((await lineOf(answer.headers))['reason']).toMatch(/: https:\/\/evil\.example\/back$/);
  });

  test('after a wrong post_logout_redirect_uri the log has the URI', async () => {
    const query = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: SENT });
    const page = await flow.browser().request('GET', `/session/end?${query.toString()}`);
    expect((await lineOf(page.headers))['reason']).toBe(
      'post_logout_redirect_uri is not registered: "https://evil.example/back"',
    );
  });

  test('GET /auth with an unknown scope continues, and the log has the ignored scope', async () => {
    const page = await browser.open(flow.authorize({ scope: 'openid documents:read nope:read' }));
    expect(sent(page).get('code')).toEqual(expect.any(String));
    const line = lines.findLast((one) => one.includes('nope:read'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      path: '/auth',
      reason: 'scopes that this client may not have are ignored: nope:read',
    });
  });

  test('after an introspection that the client may not make, the log has the reason', async () => {
    const form = { grant_type: 'client_credentials', scope: 'documents:read' };
    const { body } = await flow.post('/token', form, asApp);
    await flow.stores.clients.add({
      ...(await flow.stores.clients.get('app'))!,
      client_id: 'stranger',
      secret_hash: createHash('sha256').update(SECRET).digest('base64url'),
    });
    const token = String(body['access_token']);
    const answer = await flow.post('/token/introspection', { token }, basic('stranger', SECRET));
    expect(answer.body).toEqual({ active: false });
    expect((await lineOf(answer.headers))['reason']).toBe(
      `this client may not introspect tokens for ${DOCUMENTS}: see client add --introspects`,
    );
  });

  test('GET /userinfo with an invalid token: problem details have the reason in development', async () => {
    const headers = { authorization: 'Bearer nonsense' };
    const answer = await fetched(`${flow.url}/userinfo`, { headers });
    expect(answer.status).toBe(401);
    const reason = 'access token: not three parts';
    expect(await lineOf(answer.headers)).toMatchObject({ reason });
    expect(await answer.json()).toEqual({
      title: 'Unauthorized',
      status: 401,
      detail: expect.stringContaining('Credentials are missing or not valid.'),
      ...(development && { reason }),
    });
  });

  test('RFC 6749 section 5.2: unauthorized_client says that grant types do not change', async () => {
    const { body } = await flow.post('/token', { grant_type: 'refresh_token' }, asApp);
    expect(body).toEqual({
      error: 'unauthorized_client',
      error_description: expect.stringContaining('grant types of a client do not change'),
    });
  });

  test.each([
    ['announced', {}],
    ['not announced', { 'transfer-encoding': 'chunked' }],
  ])('a form of more than 56 KiB gets 413 if its length is %s', async (_what, fields) => {
    const form = `grant_type=client_credentials&x=${'x'.repeat(57 * 1024)}`;
    const length = 'transfer-encoding' in fields ? {} : { 'content-length': form.length };
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...asApp };
    const { port } = new URL(flow.url);
    const answer = await askExactly(Number(port), 'POST', '/token', {
      headers: { ...headers, ...fields, ...length },
      body: form,
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ detail: 'A form here has at most 56 KiB.' });
  });
});
