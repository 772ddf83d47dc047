import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { endEverything } from '#shared/people/access/everything.ts';
import { endClient } from '#shared/people/access/of-client.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { systemClock } from '#shared/base/clock.ts';
import { storedId } from '../../engine/storage/stored-id.ts';
import { basic, SECRET } from '../authz.fixture.ts';
import type { Answered } from '../authz.fixture.ts';
import { CALLBACK, sent, testFlow, VERIFIER } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow();
  browser = await flow.signedIn();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const access = () => ({ stores: flow.stores, clock: systemClock, longestLife: 605 });

async function newCode(parameters: Record<string, string> = {}): Promise<string> {
  return (await flow.allow(browser, parameters)).get('code') ?? '';
}

/** Returns whether a resource server would accept the token now. */
async function lives({ body }: Answered): Promise<boolean> {
  await using feed = await flow.stores.revocations.feed();
  const token = decodeJwt(String(body['access_token']));
  const { jti = '', sub = '' } = token;
  const [client_id, epoch, grant_id] = [token['client_id'], token['epoch'], token['grant_id']].map(
    String,
  );
  const view = await feed.latest();
  return (
    view.revokedBy({
      jti,
      sub,
      kid: '',
      client_id: client_id ?? '',
      epoch: epoch ?? '',
      grant_id: grant_id ?? '',
      client_gen: Number(token['client_gen']),
      sub_gen: Number(token['sub_gen']),
    }) === undefined
  );
}

const refused = ({ status, body }: Answered) => [status, body['error']];
const INVALID_GRANT = [400, 'invalid_grant'];

describe('RFC 6749 section 4.1.3: redeeming a code', () => {
  test.each<[string, Record<string, string>, string]>([
    ['no verifier (RFC 7636 section 4.6)', { code_verifier: '' }, 'invalid_grant'],
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }, 'invalid_grant'],
    ['a verifier that is too short', { code_verifier: 'v' }, 'invalid_request'],
    ['a verifier that is too long', { code_verifier: 'v'.repeat(129) }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: `${CALLBACK}/` }, 'invalid_grant'],
    ['another public client', { client_id: 'native', redirect_uri: CALLBACK }, 'invalid_grant'],
    ['an invalid code', { code: 'x' }, 'invalid_grant'],
    ['a code of a kilobyte', { code: 'x'.repeat(1000) }, 'invalid_grant'],
    ['no code', { code: '' }, 'invalid_request'],
    [
      'a code as a refresh token',
      { grant_type: 'refresh_token', refresh_token: 'x' },
      'invalid_grant',
    ],
  ])('a redemption is refused: %s', async (_what, form, error) => {
    const answer = await flow.redeem(await newCode(), form);
    expect(refused(answer)).toEqual([400, error]);
  });

  test('OAuth 2.1 section 10.2: a code that is bound by PKCE needs no redirect URI, whichever are registered', async () => {
    const client = await flow.stores.clients.get('web');
    const redirect_uris = [CALLBACK, 'https://app.example/other'];
    if (client) await flow.stores.clients.add({ ...client, client_id: 'two', redirect_uris });
    for (const client_id of ['web', 'two']) {
      const code = await newCode({ client_id });
      const wrong = { client_id, redirect_uri: 'https://app.example/other' };
      expect(refused(await flow.redeem(code, wrong))).toEqual(INVALID_GRANT);
      expect((await flow.redeem(code, { client_id, redirect_uri: '' })).status).toBe(200);
    }
  });

  test('a code without PKCE needs the redirect URI of its request', async () => {
    const code = await newCode({ client_id: 'server' });
    const id = storedId('AuthorizationCode', code);
    const { artefacts } = flow.stores;
    const {
      codeChallenge: _c,
      codeChallengeMethod: _m,
      ...payload
    } = (await artefacts.get('AuthorizationCode', id)) ?? {};
    await artefacts.put({ kind: 'AuthorizationCode', id, payload, seconds: 60 });
    const redeem = (redirect_uri: string) =>
      flow.redeem(
        code,
        { client_id: 'server', code_verifier: '', redirect_uri },
        basic('server', SECRET),
      );
    expect(refused(await redeem(''))).toEqual([400, 'invalid_request']);
    expect(refused(await redeem(`${CALLBACK}/`))).toEqual(INVALID_GRANT);
    expect((await redeem(CALLBACK)).status).toBe(200);
  });

  test('the challenge itself is not accepted as a verifier (no downgrade to plain)', async () => {
    const code = await newCode({ code_challenge: VERIFIER });
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
  });

  test('a code of a client with a secret needs the secret', async () => {
    const code = await newCode({ client_id: 'server' });
    expect((await flow.redeem(code, { client_id: 'server' })).status).toBe(401);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect((await flow.redeem(code, { client_id: 'server' }, basic('server', SECRET))).status).toBe(
      200,
    );
  });

  test('RFC 9700 section 4.5: a second redemption of a code ends the tokens that it gave', async () => {
    const code = await newCode();
    const first = await flow.redeem(code);
    expect([first.status, await lives(first)]).toEqual([200, true]);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(await lives(first)).toBe(false);
    expect(refused(await flow.refresh(String(first.body['refresh_token'])))).toEqual(INVALID_GRANT);
  });

  test('if ten requests redeem a code at the same time, at most one gets tokens, and these end', async () => {
    const code = await newCode({ prompt: 'consent' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => flow.redeem(code)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const answer of answers.filter((one) => !given.includes(one)))
      expect(refused(answer)).toEqual(INVALID_GRANT);
    for (const answer of given) expect(await lives(answer)).toBe(false);
  });

  test('an attempt of another client does not use up the code', async () => {
    const code = await newCode({ prompt: 'consent' });
    expect(refused(await flow.redeem(code, { client_id: 'native' }))).toEqual(INVALID_GRANT);
    expect((await flow.redeem(code)).status).toBe(200);
  });
});

describe('after the end of a grant, a sign-in, a client or a person no tokens are issued', () => {
  test('a grant ends between code and tokens', async () => {
    const first = await flow.redeem(await newCode({ prompt: 'consent' }));
    const code = await newCode();
    await endGrant(access(), String(decodeJwt(String(first.body['access_token']))['grant_id']));
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(await lives(first)).toBe(false);
  });

  test('a code and a refresh token without offline_access end with the sign-in', async () => {
    const other = await flow.signedIn();
    const before = await flow.redeem((await flow.allow(other)).get('code') ?? '');
    const code = (await flow.allow(other)).get('code') ?? '';
    const [latest] = await listSignIns(access(), flow.accountId);
    if (latest) await endSignIn(access(), latest);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(String(before.body['refresh_token'])))).toEqual(
      INVALID_GRANT,
    );
    expect(await lives(before)).toBe(false);
  });

  test('OpenID Connect Core 1.0 section 11: with offline_access the refresh token outlives the sign-in', async () => {
    const other = await flow.signedIn();
    const answer = await flow.allow(other, {
      scope: 'documents:read offline_access',
      prompt: 'consent',
    });
    const { body } = await flow.redeem(answer.get('code') ?? '');
    const [latest] = await listSignIns(access(), flow.accountId);
    if (latest) await endSignIn(access(), latest);
    expect((await flow.refresh(String(body['refresh_token']))).status).toBe(200);
  });

  test('a client is removed between code and tokens', async () => {
    const code = await newCode({ client_id: 'server' });
    const client = await flow.stores.clients.get('server');
    await flow.stores.clients.remove('server');
    const answer = await flow.redeem(code, { client_id: 'server' }, basic('server', SECRET));
    if (client) await flow.stores.clients.add(client);
    expect(refused(answer)).toEqual([401, 'invalid_client']);
  });

  test('with all access of a client its code, refresh token and access token end, and the person is asked again', async () => {
    const first = await flow.redeem(await newCode({ prompt: 'consent' }));
    expect(await lives(first)).toBe(true);
    const code = await newCode();
    await endClient(access(), 'web');
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(String(first.body['refresh_token'])))).toEqual(INVALID_GRANT);
    expect(await lives(first)).toBe(false);
    const asked = await browser.open(flow.authorize());
    expect(asked.text).toContain('name="decision"');
    expect(await lives(await flow.redeem(await newCode()))).toBe(true);
  });

  // The queries of one step use different connections to PostgreSQL, so any of them may be answered first.
  test('if the client or the person ends after any answer of the store, no token stays valid', async () => {
    const { clients, revocations, artefacts } = flow.stores;
    const until = Date.now() + 3_600_000;
    const asked: readonly [object, string][] = [
      [clients, 'get'],
      [revocations, 'generation'],
      [artefacts, 'get'],
    ];
    for (const [kind, id] of [
      ['client', 'web'],
      ['person', flow.accountId],
    ] as const) {
      let [last, answers] = [0, 0];
      do {
        last += 1;
        answers = 0;
        const other = await flow.signedIn();
        const code = (await flow.allow(other, { prompt: 'consent' })).get('code') ?? '';
        const before = asked.map(([part, verb]) => [part, verb, Reflect.get(part, verb)] as const);
        for (const [part, verb, question] of before) {
          const counted = async (...args: readonly unknown[]) => {
            const answer: unknown = await question(...args);
            answers += 1;
            if (answers === last) await revocations.raise(kind, id, until);
            return answer;
          };
          Reflect.set(part, verb, counted);
        }
        const redeemed = await flow.redeem(code);
        for (const [part, verb, question] of before) Reflect.set(part, verb, question);
        const ended = answers >= last;
        expect([kind, last, redeemed.status === 200 && (await lives(redeemed))]).toEqual([
          kind,
          last,
          !ended,
        ]);
      } while (answers >= last);
      expect(last).toBeGreaterThan(5);
    }
    browser = await flow.signedIn();
  });

  test('all access of a client ends even if a crash left its grant and tokens in the store', async () => {
    const { body } = await flow.redeem(await newCode({ prompt: 'consent' }));
    const code = await newCode();
    await flow.stores.revocations.raise('client', 'web', Date.now() + 3_600_000);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(String(body['refresh_token'])))).toEqual(INVALID_GRANT);
  });

  test('all access of a person ends even if a crash left the grant and tokens in the store', async () => {
    const other = await flow.signedIn();
    const scope = 'documents:read offline_access';
    const answer = await flow.allow(other, { scope, prompt: 'consent' });
    const { body } = await flow.redeem(answer.get('code') ?? '');
    const code = (await flow.allow(other, { scope, prompt: 'consent' })).get('code') ?? '';
    await flow.stores.revocations.raise('person', flow.accountId, Date.now() + 3_600_000);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(String(body['refresh_token'])))).toEqual(INVALID_GRANT);
    browser = await flow.signedIn();
  });

  test('a grant that only the engine still knows is not used, and the consent gives another grant', async () => {
    const other = await flow.signedIn();
    const { body } = await flow.redeem((await flow.allow(other)).get('code') ?? '');
    const silently = flow.authorize({ prompt: 'none' });
    expect(sent(await other.open(silently)).get('code')).not.toBeNull();
    const { grant_id } = decodeJwt(String(body['access_token']));
    await flow.stores.artefacts.remove('Access', String(grant_id));
    const again = await flow.redeem(sent(await other.open(silently)).get('code') ?? '');
    expect(again.status).toBe(200);
    expect(decodeJwt(String(again.body['access_token']))['grant_id']).not.toBe(grant_id);
  });

  test('with all access of a person the code, refresh token and session end', async () => {
    const other = await flow.signedIn();
    const answer = await flow.allow(other, {
      scope: 'documents:read offline_access',
      prompt: 'consent',
    });
    const first = await flow.redeem(answer.get('code') ?? '');
    const code = (await flow.allow(other)).get('code') ?? '';
    await endEverything(access(), flow.accountId);
    expect(refused(await flow.redeem(code))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(String(first.body['refresh_token'])))).toEqual(INVALID_GRANT);
    expect(await lives(first)).toBe(false);
    const page = await other.open(flow.authorize());
    expect(page.forms.some(({ action }) => action.endsWith('/login'))).toBe(true);
    browser = await flow.signedIn();
    expect(await lives(await flow.redeem(await newCode()))).toBe(true);
  });
});

describe('RFC 9449 section 10: a code that is bound to a key', () => {
  async function keyAndProof() {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const proof = () =>
      new SignJWT({ htm: 'POST', htu: `${flow.config.issuer}/token`, jti: randomUUID() })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .setIssuedAt()
        .sign(privateKey);
    return { proof, jkt: await calculateJwkThumbprint(jwk) };
  }

  test('a bound code is redeemed with a proof of its key', async () => {
    const { proof, jkt } = await keyAndProof();
    const code = await newCode({ dpop_jkt: jkt });
    const { status, body } = await flow.redeem(code, {}, { dpop: await proof() });
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    expect(decodeJwt(String(body['access_token']))['cnf']).toEqual({ jkt });
  });

  test('section 11.1: a replayed proof does not use up the code', async () => {
    const { proof, jkt } = await keyAndProof();
    const dpop = await proof();
    expect((await flow.redeem(await newCode({ dpop_jkt: jkt }), {}, { dpop })).status).toBe(200);
    const code = await newCode({ dpop_jkt: jkt });
    const replayed = await flow.redeem(code, {}, { dpop });
    expect(refused(replayed)).toEqual([400, 'invalid_dpop_proof']);
    expect((await flow.redeem(code, {}, { dpop: await proof() })).status).toBe(200);
  });

  test('a bound code is not redeemed without a proof, or with a proof of another key', async () => {
    const { jkt } = await keyAndProof();
    const { proof } = await keyAndProof();
    expect(
      refused(await flow.redeem(await newCode({ dpop_jkt: jkt }), {}, { dpop: await proof() })),
    ).toEqual(INVALID_GRANT);
    expect(refused(await flow.redeem(await newCode({ dpop_jkt: jkt })))).toEqual(INVALID_GRANT);
  });
});
