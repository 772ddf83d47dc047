import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, Client, DPoPHandle } from 'oauth4webapi';
import { startPair } from '../../pair/pair.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_FLOW, DEVICE_FLOW } from '../../pair/people-client.ts';
import { PersonAtPages } from './person-at-pages.ts';

/**
 * oauth4webapi, which leaves each protocol step to its caller: device flow, and answers with a wrong
 * issuer.
 */
const INSECURE = { [oauth.allowInsecureRequests]: true };

let pair: Pair;
let as: AuthorizationServer;
let person: Person;
let browser: PersonAtPages;

beforeAll(async () => {
  pair = await startPair({ settings: { device: { interval: 60 } } });
  as = await discover(pair);
});
beforeEach(async () => {
  person = await pair.addPerson(`person-${randomUUID()}`);
  browser = new PersonAtPages(pair, person);
});
afterAll(async () => pair?.[Symbol.asyncDispose]());

async function discover({ issuer }: Pair): Promise<AuthorizationServer> {
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, INSECURE));
}

async function newClient(options: readonly string[], at = pair): Promise<Client> {
  const { id } = await addPeopleClient(at, '--public', '--id-token-alg', 'ES256', ...options);
  return { client_id: id, id_token_signed_response_alg: 'ES256' };
}

/** The status of a request for the documents. */
async function read(token: string, DPoP?: DPoPHandle): Promise<number> {
  const options = { ...INSECURE, ...(DPoP && { DPoP }) };
  const url = new URL(pair.documents);
  return oauth.protectedResourceRequest(token, 'GET', url, undefined, undefined, options).then(
    ({ status }) => status,
    ({ status }: { status: number }) => status,
  );
}

describe('device flow (RFC 8628)', () => {
  let tv: Client;
  beforeAll(async () => {
    tv = await newClient(DEVICE_FLOW);
  });

  async function ask() {
    const parameters = { scope: 'openid documents:read' };
    const answer = oauth.deviceAuthorizationRequest(as, tv, oauth.None(), parameters, INSECURE);
    return oauth.processDeviceAuthorizationResponse(as, tv, await answer);
  }

  async function poll(deviceCode: string, DPoP?: DPoPHandle) {
    const options = { ...INSECURE, ...(DPoP && { DPoP }) };
    const answer = oauth.deviceCodeGrantRequest(as, tv, oauth.None(), deviceCode, options);
    return oauth.processDeviceCodeResponse(as, tv, await answer);
  }

  const refused = (error: string) => ({ status: 400, error });

  test('section 3.2: the device gets a code and a link to show', async () => {
    const asked = await ask();
    expect(asked).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
      verification_uri: `${pair.issuer}/device`,
      verification_uri_complete: `${pair.issuer}/device?user_code=${asked.user_code}`,
      expires_in: 600,
      interval: 60,
    });
  });

  test('section 3.5: the device gets authorization_pending, slow_down and its tokens, and then never again', async () => {
    const { device_code, verification_uri_complete = '' } = await ask();
    await expect(poll(device_code)).rejects.toMatchObject(refused('authorization_pending'));
    await expect(poll(device_code)).rejects.toMatchObject(refused('slow_down'));
    await browser.open(verification_uri_complete);
    const { access_token } = await poll(device_code);
    await expect(poll(device_code)).rejects.toMatchObject(refused('invalid_grant'));
    expect(await read(access_token)).toBe(200);
  });

  test('RFC 9449 section 5: the tokens are bound to the key that redeems the code', async () => {
    const { device_code, verification_uri_complete = '' } = await ask();
    await browser.open(verification_uri_complete);
    const key = oauth.DPoP(tv, await oauth.generateKeyPair('ES256'));
    const tokens = await poll(device_code, key);
    expect(tokens.token_type).toBe('dpop');
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(person.id);
    const { access_token } = tokens;
    expect([await read(access_token, key), await read(access_token)]).toEqual([200, 401]);
  });

  test('section 3.3: a denied code stays denied, even if another person allows it', async () => {
    const { device_code, verification_uri_complete = '' } = await ask();
    await browser.open(verification_uri_complete, 'deny');
    await expect(poll(device_code)).rejects.toMatchObject(refused('access_denied'));
    const neighbour = new PersonAtPages(pair, await pair.addPerson(`person-${randomUUID()}`));
    await neighbour.open(verification_uri_complete);
    await expect(poll(device_code)).rejects.toMatchObject(refused('access_denied'));
  });
});

describe('code flow', () => {
  let app: Client;
  beforeAll(async () => {
    app = await newClient(CODE_FLOW);
  });

  /** Sends the person to an authorization server; resolves to its answer, code verifier and state. */
  async function authorize(
    at: { as: AuthorizationServer; client: Client; browser: PersonAtPages },
    more: Readonly<Record<string, string>> = {},
  ) {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(at.as.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      client_id: at.client.client_id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid documents:read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...more,
    }).toString();
    return { callback: await at.browser.answer(url), verifier, state };
  }

  test('RFC 9068 section 4: a token shows a resource server the person, the methods and the time of sign-in', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { callback, verifier, state } = await authorize({ as, client: app, browser });
    const checked = oauth.validateAuthResponse(as, app, callback, state);
    const redeemed = await oauth.authorizationCodeGrantRequest(
      ...([as, app, oauth.None(), checked, CALLBACK, verifier, INSECURE] as const),
    );
    const { access_token } = await oauth.processAuthorizationCodeResponse(as, app, redeemed);
    const request = new Request(pair.documents, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(as, request, pair.documents, INSECURE);
    expect(claims).toMatchObject({
      iss: pair.issuer,
      sub: person.id,
      client_id: app.client_id,
      scope: 'documents:read',
      acr: 'urn:countersign:acr:password',
      amr: ['pwd'],
    });
    expect(claims['auth_time']).toBeGreaterThanOrEqual(before);
  });

  describe('RFC 9207 section 2.4: a client between two issuers', () => {
    test('learns from the metadata that each answer has iss', () => {
      expect(as.authorization_response_iss_parameter_supported).toBe(true);
    });

    test.each([
      ['another iss', () => 'https://evil.example'],
      ['the same with a slash', () => `${pair.issuer}/`],
      ['no iss', () => undefined],
    ])('refuses an answer with %s', async (_name, iss) => {
      const { callback, state } = await authorize({ as, client: app, browser });
      expect(callback.searchParams.get('iss')).toBe(pair.issuer);
      callback.searchParams.delete('iss');
      const wrong = iss();
      if (wrong !== undefined) callback.searchParams.set('iss', wrong);
      const check = () => oauth.validateAuthResponse(as, app, callback, state);
      expect(check).toThrow(/"iss"|issuer/);
    });

    test('checks iss of an error answer, too', async () => {
      const { callback, state } = await authorize({ as, client: app, browser }, { prompt: 'none' });
      expect(callback.searchParams.get('error')).toBe('login_required');
      const check = () => oauth.validateAuthResponse(as, app, callback, state);
      expect(check).toThrow(oauth.AuthorizationResponseError);
      callback.searchParams.set('iss', 'https://evil.example');
      expect(check).toThrow(/"iss"/);
    });

    test('refuses the answer of another issuer, whose code gives no token here', async () => {
      await using other = await startPair();
      const name = `person-${randomUUID()}`;
      const there = {
        as: await discover(other),
        client: await newClient(CODE_FLOW, other),
        browser: new PersonAtPages(other, await other.addPerson(name)),
      };
      const { callback, verifier, state } = await authorize(there);
      const check = () => oauth.validateAuthResponse(as, app, callback, state);
      expect(check).toThrow(/"iss"/);

      const checked = oauth.validateAuthResponse(there.as, there.client, callback, state);
      const redeem = (at: AuthorizationServer, client: Client) =>
        oauth.authorizationCodeGrantRequest(
          ...([at, client, oauth.None(), checked, CALLBACK, verifier, INSECURE] as const),
        );
      const here = oauth.processAuthorizationCodeResponse(as, app, await redeem(as, app));
      await expect(here).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });
      const answer = await redeem(there.as, there.client);
      const tokens = await oauth.processAuthorizationCodeResponse(there.as, there.client, answer);
      expect(await read(tokens.access_token)).toBe(401);
    });
  });
});
