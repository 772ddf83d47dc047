import * as oauth from 'oauth4webapi';
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import * as client from 'openid-client';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { freePort } from '../../parts/free-port.ts';
import type { Pair } from '../../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_FLOW } from '../../pair/people-client.ts';
import { runPerson } from './authlib/person.ts';
import { CALLBACK_PATH, listening, type MakeApp, SCOPE } from './people-apps/app.ts';
import { expressOpenidConnectApp } from './people-apps/express-openid-connect.ts';
import { passportApp } from './people-apps/passport-openidconnect.ts';
import type { PersonAtPages } from './person-at-pages.ts';

/** Signs a person in; resolves to the ID token's claims as the library returns them. */
export type SignIn = (person: PersonAtPages) => Promise<unknown>;

/** Registers a client and sets up its library. Everything that it starts ends with `parts`. */
type RelyingParty = (pair: Pair, parts: AsyncDisposableStack) => Promise<SignIn>;

const publicClient = (pair: Pair) => addPeopleClient(pair, '--public', ...CODE_FLOW);

/** An application with web pages: the person follows its redirects. */
const application =
  (make: MakeApp, ...options: readonly string[]): RelyingParty =>
  async (pair, parts) => {
    const origin = `http://localhost:${await freePort()}`;
    const uri = origin + CALLBACK_PATH;
    const args = ['--grant', 'authorization_code', '--scope', SCOPE, '--redirect-uri', uri];
    const added = await pair.cli('client', 'add', '--name', 'App', ...args, ...options);
    const id = String(added['client_id']);
    const secret = String(added['client_secret']);
    parts.use(await listening(await make({ issuer: pair.issuer, id, secret, origin }), origin));
    return async (person) => {
      const browser = new TestBrowser(origin, origin);
      const asked = await browser.open('/');
      const callback = await person.answer(asked.headers.get('location') ?? '');
      return JSON.parse((await browser.open(callback.href)).text) as unknown;
    };
  };

/** The clients of docs/reference/clients.md that work without a real browser. */
export const RELYING_PARTIES: Readonly<Record<string, RelyingParty>> = {
  async 'openid-client'(pair) {
    const { id } = await publicClient(pair);
    const config = await client.discovery(
      new URL(pair.issuer),
      id,
      { id_token_signed_response_alg: 'RS256' },
      client.None(),
      { execute: [client.allowInsecureRequests] },
    );
    return async (person) => {
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
    };
  },

  async oauth4webapi(pair) {
    const { id } = await publicClient(pair);
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(pair.issuer);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    const own = { client_id: id, id_token_signed_response_alg: 'RS256' };
    return async (person) => {
      const verifier = oauth.generateRandomCodeVerifier();
      const url = new URL(as.authorization_endpoint ?? '');
      url.search = new URLSearchParams({
        client_id: id,
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
    };
  },

  async 'oidc-client-ts'(pair) {
    const { id } = await publicClient(pair);
    const library = new OidcClient({
      authority: pair.issuer,
      client_id: id,
      redirect_uri: CALLBACK,
      scope: 'openid',
      // By default the library hides acr and amr from the application.
      filterProtocolClaims: false,
      stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    });
    return async (person) => {
      const { url } = await library.createSigninRequest({});
      const { href } = await person.answer(url);
      return (await library.processSigninResponse(href)).profile;
    };
  },

  async Authlib(pair) {
    const { id } = await publicClient(pair);
    const asked = {
      issuer: pair.issuer,
      resource: pair.documents,
      client_id: id,
      method: 'none',
      redirect_uri: CALLBACK,
      scope: 'openid documents:read',
    };
    return async (person) =>
      ((await runPerson(asked, person)) as { readonly claims: unknown }).claims;
  },

  'express-openid-connect': application(expressOpenidConnectApp),
  'passport-openidconnect': application(
    passportApp,
    '--pkce',
    'nonce',
    '--auth',
    'client_secret_post',
  ),
};
