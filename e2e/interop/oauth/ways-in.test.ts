import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { systemClock } from '#shared/base/clock.ts';
import {
  Authenticator,
  optionsIn,
} from '../../../authz-server/integration/authenticator.fixture.ts';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { appFrom } from '../../../authz-server/integration/second-factor.fixture.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_FLOW } from '../../pair/people-client.ts';
import { PersonAtPages } from './person-at-pages.ts';

/** Clients of others learn from the ID token how a person signed in (OpenID Connect Core 1.0 section 2, RFC 8176 section 2). */
let pair: Pair;
let app: { readonly id: string };
beforeAll(async () => {
  // Browsers make passkeys for a name, not for an address (WebAuthn section 5.1.3).
  pair = await startPair({ issuerHost: 'localhost' });
  app = await addPeopleClient(pair, '--public', ...CODE_FLOW);
});
afterAll(async () => pair?.[Symbol.asyncDispose]());

/** A browser in which the person has signed in by password, to set up what they sign in with from now on. */
async function atHome({ name, password }: Person): Promise<TestBrowser> {
  const browser = new TestBrowser(pair.issuer, pair.issuer);
  await browser.submit(await browser.open('/account'), { name, password });
  return browser;
}

const WAYS: Readonly<Record<string, (person: Person) => Promise<PersonAtPages>>> = {
  password: async (person) => new PersonAtPages(pair, person),
  'second-factor': async (person) => {
    const browser = await atHome(person);
    const page = await browser.open('/account/second-factor');
    const code = appFrom(page, { clock: systemClock });
    await browser.submit(page, { code: code() }, '/account/second-factor');
    const { name, password } = person;
    // The step of the set-up is used up: the code of the next one is good already (RFC 6238 section 5.2).
    return new PersonAtPages(pair, person, ({ text }) =>
      text.includes('autocomplete="one-time-code"') ? { code: code(1) } : { name, password },
    );
  },
  passkey: async (person) => {
    const browser = await atHome(person);
    const page = await browser.open('/account/passkeys');
    const authenticator = new Authenticator(pair.issuer);
    const passkey = authenticator.create(optionsIn(page));
    await browser.submit(page, { do: 'added', passkey, name: 'Phone' }, '/account/passkeys');
    return new PersonAtPages(pair, person, (asked) => ({
      passkey: authenticator.get(optionsIn(asked)),
      name: '',
      password: '',
    }));
  },
};

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  password: ['pwd'],
  'second-factor': ['pwd', 'otp', 'mfa'],
  passkey: ['hwk', 'user', 'mfa'],
};

/** Signs somebody in at the client; resolves to the claims of the ID token as its library gives them. */
const CLIENTS: Readonly<Record<string, (person: PersonAtPages) => Promise<unknown>>> = {
  'openid-client': async (person) => {
    const config = await client.discovery(
      new URL(pair.issuer),
      app.id,
      { id_token_signed_response_alg: 'RS256' },
      client.None(),
      { execute: [client.allowInsecureRequests] },
    );
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const checks = { pkceCodeVerifier, idTokenExpected: true };
    const tokens = await client.authorizationCodeGrant(config, await person.answer(url), checks);
    return tokens.claims();
  },
  oauth4webapi: async (person) => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(pair.issuer);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    const own = { client_id: app.id, id_token_signed_response_alg: 'RS256' };
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(as.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      client_id: app.id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const answer = await person.answer(url);
    const checked = oauth.validateAuthResponse(as, own, answer, oauth.expectNoState);
    const redeemed = await oauth.authorizationCodeGrantRequest(
      ...([as, own, oauth.None(), checked, CALLBACK, verifier, insecure] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, own, redeemed, {
      requireIdToken: true,
    });
    return oauth.getValidatedIdTokenClaims(tokens);
  },
};

describe.each(Object.keys(CLIENTS))('%s', (library) => {
  test.each(Object.keys(WAYS))('acr and amr of a sign-in by %s', async (way) => {
    const person = await pair.addPerson(`person-${randomUUID()}`);
    const browser = await WAYS[way]?.(person);
    expect(browser && (await CLIENTS[library]?.(browser))).toMatchObject({
      sub: person.id,
      acr: `urn:countersign:acr:${way}`,
      amr: EXPECTED[way],
    });
  });
});
