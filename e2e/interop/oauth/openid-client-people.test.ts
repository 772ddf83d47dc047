import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import type { ClientAuth, Configuration, DPoPOptions } from 'openid-client';
import { startPair } from '../../pair/pair.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import {
  addPeopleClient,
  AFTER_LOGOUT,
  CALLBACK,
  CODE_FLOW,
  DEVICE_FLOW,
} from '../../pair/people-client.ts';
import { PersonAtPages } from './person-at-pages.ts';

/** openid-client for sign-in of people. Both servers require nonces. */
let pair: Pair;
let apps: Readonly<Record<'public' | 'confidential', Configuration>>;
let device: Configuration;
let person: Person;

beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      tokens: { nonce: true },
      device: { interval: 1 },
      spaces: [
        {
          url: `${resource}/documents/`,
          realm: 'documents',
          schemes: ['Bearer', 'DPoP'],
          scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
          nonce: true,
        },
      ],
    }),
  });
  const [app, server, tv] = [
    await addPeopleClient(pair, '--public', ...CODE_FLOW),
    await addPeopleClient(pair, ...CODE_FLOW),
    await addPeopleClient(pair, '--public', ...DEVICE_FLOW),
  ];
  apps = {
    public: await discover(app.id, client.None()),
    confidential: await discover(server.id, client.ClientSecretBasic(server.secret)),
  };
  device = await discover(tv.id, client.None());
});
beforeEach(async () => {
  person = await pair.addPerson(`person-${randomUUID()}`);
});
afterAll(async () => pair?.[Symbol.asyncDispose]());

function discover(id: string, authentication: ClientAuth): Promise<Configuration> {
  // The ID token algorithm that the library expects by default.
  const metadata = { id_token_signed_response_alg: 'RS256' };
  const execute = [client.allowInsecureRequests];
  return client.discovery(new URL(pair.issuer), id, metadata, authentication, { execute });
}

const newKey = async (config: Configuration): Promise<DPoPOptions> => ({
  DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair()),
});

/** The status of a request for the documents. */
async function read(config: Configuration, token: string, options?: DPoPOptions): Promise<number> {
  const url = new URL(pair.documents);
  const answer = client.fetchProtectedResource(
    config,
    token,
    url,
    'GET',
    undefined,
    undefined,
    options,
  );
  return answer.then(
    ({ status }) => status,
    ({ status }: { status: number }) => status,
  );
}

/** The values that the client keeps during sign-in. */
async function newRequest() {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const expectedNonce = client.randomNonce();
  const parameters = {
    redirect_uri: CALLBACK,
    scope: 'openid profile documents:read',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  };
  return { parameters, checks: { pkceCodeVerifier, expectedState, expectedNonce } };
}

/** Runs the whole code flow (RFC 6749 section 4.1). The person allows everything. */
async function signIn(
  config: Configuration,
  browser = new PersonAtPages(pair, person),
  more: Readonly<Record<string, string>> = {},
) {
  const { parameters, checks } = await newRequest();
  const url = client.buildAuthorizationUrl(config, { ...parameters, ...more });
  return client.authorizationCodeGrant(config, await browser.answer(url), checks);
}

describe.each(['public', 'confidential'] as const)(
  'openid-client, code flow, %s client',
  (kind) => {
    test('OpenID Connect Core 1.0 section 3.1: gets an ID token, userinfo and documents', async () => {
      const config = apps[kind];
      const tokens = await signIn(config);
      expect(tokens).toMatchObject({
        token_type: 'bearer',
        scope: 'openid profile documents:read',
      });
      expect(tokens.claims()).toMatchObject({
        iss: pair.issuer,
        sub: person.id,
        acr: 'urn:countersign:acr:password',
        amr: ['pwd'],
      });
      expect(await client.fetchUserInfo(config, tokens.access_token, person.id)).toEqual({
        sub: person.id,
        preferred_username: person.name,
        updated_at: expect.any(Number),
      });
      expect(await read(config, tokens.access_token)).toBe(200);
    });

    test('RFC 9470 section 4: acr_values and max_age are met or give an error', async () => {
      const config = apps[kind];
      const { parameters, checks } = await newRequest();
      const ask = (acr_values: string) =>
        client.buildAuthorizationUrl(config, { ...parameters, acr_values, max_age: '60' });
      const browser = new PersonAtPages(pair, person);
      const strong = await browser.answer(ask('urn:countersign:acr:passkey'));
      await expect(client.authorizationCodeGrant(config, strong, checks)).rejects.toMatchObject({
        error: 'unmet_authentication_requirements',
      });
      const callback = await browser.answer(ask('urn:countersign:acr:password'));
      // The library compares this with auth_time of the ID token (OpenID Connect Core 1.0 section 3.1.3.7).
      const tokens = await client.authorizationCodeGrant(config, callback, {
        ...checks,
        maxAge: 60,
      });
      expect(tokens.claims()).toMatchObject({ auth_time: expect.any(Number) });
    });

    test('RFC 9126, RFC 9449: a pushed request that is bound to a key gives tokens of that key', async () => {
      const config = apps[kind];
      const key = await newKey(config);
      const { parameters, checks } = await newRequest();
      const url = await client.buildAuthorizationUrlWithPAR(config, parameters, key);
      expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
      const callback = await new PersonAtPages(pair, person).answer(url);
      const tokens = await client.authorizationCodeGrant(config, callback, checks, {}, key);
      expect(tokens.token_type).toBe('dpop');

      const { access_token } = tokens;
      const userinfo = client.fetchUserInfo(config, access_token, person.id, key);
      expect(await userinfo).toMatchObject({ sub: person.id });
      expect(await read(config, access_token, key)).toBe(200);
      const other = await newKey(config);
      expect([await read(config, access_token), await read(config, access_token, other)]).toEqual([
        401, 401,
      ]);
      const stolen = client.fetchUserInfo(config, access_token, person.id);
      await expect(stolen).rejects.toMatchObject({ status: 401 });

      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', {}, key);
      expect(refreshed.token_type).toBe('dpop');
      expect(await read(config, refreshed.access_token, key)).toBe(200);
    });

    test('RFC 9449 section 10: the code of a request bound to a key is refused with another key', async () => {
      const config = apps[kind];
      const { parameters, checks } = await newRequest();
      const url = await client.buildAuthorizationUrlWithPAR(
        config,
        parameters,
        await newKey(config),
      );
      const callback = await new PersonAtPages(pair, person).answer(url);
      const other = await newKey(config);
      const redeemed = client.authorizationCodeGrant(config, callback, checks, {}, other);
      await expect(redeemed).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
    });

    test('RFC 7636 section 4.6: another code verifier gets invalid_grant', async () => {
      const config = apps[kind];
      const { parameters, checks } = await newRequest();
      const url = client.buildAuthorizationUrl(config, parameters);
      const callback = await new PersonAtPages(pair, person).answer(url);
      const pkceCodeVerifier = client.randomPKCECodeVerifier();
      const stolen = client.authorizationCodeGrant(config, callback, {
        ...checks,
        pkceCodeVerifier,
      });
      await expect(stolen).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
    });

    test('RFC 9700 section 4.14.2: a refresh token works once, and its second use revokes the whole grant', async () => {
      const config = apps[kind];
      const first = await signIn(config);
      const second = await client.refreshTokenGrant(config, first.refresh_token ?? '');
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(second.claims()).toMatchObject({ sub: person.id });
      expect(await read(config, second.access_token)).toBe(200);
      const third = await client.refreshTokenGrant(config, second.refresh_token ?? '');
      for (const { refresh_token } of [first, third]) {
        const again = client.refreshTokenGrant(config, refresh_token ?? '');
        await expect(again).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
      }
      expect(await read(config, second.access_token)).toBe(401);
    });

    test('RFC 7009 section 2.1: revocation of the refresh token revokes the access token, too', async () => {
      const config = apps[kind];
      const { refresh_token = '', access_token } = await signIn(config);
      await client.tokenRevocation(config, refresh_token);
      expect(await read(config, access_token)).toBe(401);
      const again = client.refreshTokenGrant(config, refresh_token);
      await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    test('RFC 6749 section 4.1.2.1: if the person denies, the client gets access_denied', async () => {
      const config = apps[kind];
      const { parameters, checks } = await newRequest();
      const url = client.buildAuthorizationUrl(config, parameters);
      const callback = await new PersonAtPages(pair, person).answer(url, 'deny');
      const redeemed = client.authorizationCodeGrant(config, callback, checks);
      await expect(redeemed).rejects.toMatchObject({ error: 'access_denied' });
    });

    const signOut = (config: Configuration, browser: PersonAtPages, id_token_hint = '') => {
      const state = 'the state';
      const asked = { id_token_hint, post_logout_redirect_uri: AFTER_LOGOUT, state };
      return browser.answer(client.buildEndSessionUrl(config, asked));
    };

    test("RP-Initiated Logout 1.0: the browser returns to the client, and the session's tokens are refused", async () => {
      const config = apps[kind];
      const browser = new PersonAtPages(pair, person);
      const { id_token, access_token, refresh_token = '' } = await signIn(config, browser);
      const callback = await signOut(config, browser, id_token);
      expect(callback.href).toBe(`${AFTER_LOGOUT}?state=the+state`);
      expect(await read(config, access_token)).toBe(401);
      const again = client.refreshTokenGrant(config, refresh_token);
      await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
      const unasked = signIn(config, browser, { prompt: 'none' });
      await expect(unasked).rejects.toMatchObject({ error: 'login_required' });
    });

    test('OpenID Connect Core 1.0 section 11: offline_access continues after sign-out', async () => {
      const config = apps[kind];
      const browser = new PersonAtPages(pair, person);
      const scope = 'openid offline_access documents:read';
      const tokens = await signIn(config, browser, { scope, prompt: 'consent' });
      await signOut(config, browser, tokens.id_token);
      const { access_token } = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect(await read(config, access_token)).toBe(200);
    });
  },
);

describe('device flow (RFC 8628)', () => {
  const ask = () => client.initiateDeviceAuthorization(device, { scope: 'openid documents:read' });

  test.each(['Bearer', 'DPoP'])(
    'section 3.5: the client polls until the person allows, %s',
    async (scheme) => {
      const key = scheme === 'DPoP' ? await newKey(device) : undefined;
      const asked = await ask();
      expect(asked).toMatchObject({ verification_uri: `${pair.issuer}/device`, interval: 1 });
      const polled = client.pollDeviceAuthorizationGrant(device, asked, {}, key);
      const page = await new PersonAtPages(pair, person).open(
        asked.verification_uri_complete ?? '',
      );
      expect([page.status, page.url]).toEqual([200, expect.stringContaining('/device')]);
      const tokens = await polled;
      expect(tokens.token_type).toBe(scheme.toLowerCase());
      expect(tokens.claims()?.sub).toBe(person.id);
      expect(await client.fetchUserInfo(device, tokens.access_token, person.id, key)).toMatchObject(
        {
          sub: person.id,
        },
      );
      expect(await read(device, tokens.access_token, key)).toBe(200);
      const refreshed = await client.refreshTokenGrant(device, tokens.refresh_token ?? '', {}, key);
      expect(await read(device, refreshed.access_token, key)).toBe(200);
    },
  );

  test('section 3.5: the client gets access_denied if the person denies', async () => {
    const asked = await ask();
    await new PersonAtPages(pair, person).open(asked.verification_uri_complete ?? '', 'deny');
    const polled = client.pollDeviceAuthorizationGrant(device, asked);
    await expect(polled).rejects.toMatchObject({ status: 400, error: 'access_denied' });
  });
});
