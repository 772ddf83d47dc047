import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuthorizationHeader, MediaType, type Token } from '@cloudflare/privacypass-ts';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { ONE_STORE } from '../flows/flow.ts';
import { App, browserAt, INVALID_GRANT, newPerson } from '../flows/person.ts';
import { post, refusal, sent, signedIn, signIn, tokensIn } from '../flows/person.ts';
import { CALLBACK, CODE_GRANTS, DEVICE_FLOW } from '../pair/people-client.ts';
import {
  BLIND_RSA,
  obtain,
  offerAt,
  redeem,
  type SendRequest,
  sendAs,
} from './private-token/privacypass.ts';
import { startTokenSite, type TokenSite } from './private-token/token-site.ts';

/** Access to tokens: the endpoint that issues tokens is a protected resource for third-party clients. */
const INSECURE = { [oauth.allowInsecureRequests]: true };
const SCOPE = 'private-token';
const WORDS = 'without learning who you are';

const newKey = async () => oauth.DPoP({}, await oauth.generateKeyPair('ES256'));

/** Repeats the attempt once if the server requires a nonce (RFC 9449 section 8). */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  return attempt().catch((error: unknown) => {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return attempt();
  });
}

/** Sends through the library's protected resource request, because its other request takes no proof. */
function sendWith(accessToken: string, DPoP?: oauth.DPoPHandle): SendRequest {
  return async (bytes, url) => {
    const headers = new Headers({ 'content-type': MediaType.PRIVATE_TOKEN_REQUEST });
    const options = DPoP ? { DPoP } : {};
    const answer = await again(() =>
      oauth.protectedResourceRequest(accessToken, 'POST', new URL(url), headers, bytes, options),
    );
    return new Uint8Array(await answer.arrayBuffer());
  };
}

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: TokenSite;
  beforeAll(async () => {
    site = await startTokenSite(kind, {}, { tokens: { nonce: true }, device: { interval: 1 } });
  });
  afterAll(async () => site?.[Symbol.asyncDispose]());

  const url = () => `${site.flow.pair.resourceTls}/schemes/private-token/`;
  const get = async (send: SendRequest) =>
    obtain(BLIND_RSA, await offerAt(url(), BLIND_RSA.type), send);
  const statusOf = async (token: Token) =>
    (await redeem(url(), new AuthorizationHeader(token).toString())).status;
  async function addClient(...options: readonly string[]): Promise<string> {
    const args = ['client', 'add', '--name', 'Token app', '--scope', SCOPE, ...options];
    return String((await site.flow.pair.cli(...args))['client_id']);
  }

  const addApp = async () =>
    new App(site.flow, await addClient('--public', ...CODE_GRANTS, '--redirect-uri', CALLBACK));

  describe('oauth4webapi with DPoP and required nonces (RFC 9449)', () => {
    test('RFC 9728: gets from the refusal to the authorization server and to a token', async () => {
      const refused: unknown = await get(sendWith('none')).catch((error: unknown) => error);
      if (!(refused instanceof oauth.WWWAuthenticateChallengeError)) throw refused;
      expect(refused.cause.map(({ scheme }) => scheme).toSorted()).toEqual(['bearer', 'dpop']);
      const [challenge] = refused.cause;
      const { scope = '', resource_metadata: metadataUrl = '' } = challenge?.parameters ?? {};
      expect(scope).toBe(SCOPE);
      const metadata = await oauth.processResourceDiscoveryResponse(
        new URL(site.requestUrl),
        await fetch(metadataUrl),
      );
      const issuer = new URL(metadata.authorization_servers?.[0] ?? '');
      const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
      const as = await oauth.processDiscoveryResponse(issuer, found);

      const { id, secret } = await site.flow.pair.addClient(SCOPE);
      const client = { client_id: id };
      const DPoP = await newKey();
      const asked = { resource: metadata.resource, scope };
      const options = { ...INSECURE, DPoP };
      const granted = await again(async () => {
        const secretBasic = oauth.ClientSecretBasic(secret);
        const request = oauth.clientCredentialsGrantRequest;
        const answer = await request(as, client, secretBasic, asked, options);
        return oauth.processClientCredentialsResponse(as, client, answer);
      });
      expect(granted.token_type).toBe('dpop');
      const accessToken = granted.access_token;

      expect(await statusOf(await get(sendWith(accessToken, DPoP)))).toBe(200);
      for (const thief of [sendWith(accessToken), sendWith(accessToken, await newKey())]) {
        await expect(get(thief)).rejects.toMatchObject({ status: 401 });
      }
      await expect(get(sendAs(`DPoP ${accessToken}`))).rejects.toThrow('code:401');
    });
  });

  describe('a person at the consent page', () => {
    test.each([
      ['en', WORDS],
      ['de', 'ohne zu sagen, wer Sie sind'],
    ])(
      'sees the scope explained in %s, allows an application, and revokes it',
      async (language, words) => {
        const { flow, requestUrl: resource } = site;
        const person = await newPerson(flow);
        const browser = await signedIn(flow, person);
        browser.fields['accept-language'] = language;
        const app = await addApp();
        const page = await browser.open(app.url({ scope: SCOPE, resource }));
        expect(page.text).toContain(words);
        const answer = sent(await browser.submit(page, { decision: 'allow' }));
        const code = answer.get('code') ?? '';
        const { access, refresh } = tokensIn(await app.redeem(code, { resource }));
        const claims = decodeJwt(access);
        expect(claims).toMatchObject({ sub: person.id, aud: resource, scope: SCOPE });
        expect(await flow.pair.get(access)).toBe(401);

        const send = sendAs(`Bearer ${access}`);
        const [one, other] = [await get(send), await get(send)];
        expect(await statusOf(one)).toBe(200);
        const account = await browser.open('/account/end');
        expect(account.text).toContain('Token app');
        const ended = { end: 'access', id: String(claims['grant_id']) };
        await browser.submit(account, ended, '/account');
        await expect(get(send)).rejects.toThrow('failed with code:401');
        expect(refresh).not.toBe('');
        expect(refusal(await app.refresh(refresh, { resource }))).toEqual(INVALID_GRANT);
        // No server knows whose token this is, so it cannot be revoked.
        expect(await statusOf(other)).toBe(200);
      },
    );

    test('denies an application, which then gets no code and no token', async () => {
      const { flow, requestUrl: resource } = site;
      const browser = await signedIn(flow, await newPerson(flow));
      const app = await addApp();
      const page = await browser.open(app.url({ scope: SCOPE, resource }));
      const answer = sent(await browser.submit(page, { decision: 'deny' }));
      expect([answer.get('error'), answer.get('code')]).toEqual(['access_denied', null]);
    });

    test('RFC 8628: sees the same explanation for a device', async () => {
      const { flow, requestUrl: resource } = site;
      const id = await addClient('--public', ...DEVICE_FLOW);
      const { body } = await post(flow, '/device/auth', { client_id: id, scope: SCOPE, resource });
      const browser = browserAt(flow);
      const first = await browser.open(`/device?user_code=${String(body['user_code'])}`);
      const page = await signIn(browser, first, await newPerson(flow));
      expect(page.text).toContain(WORDS);
      await browser.submit(page, { decision: 'allow' }, '/device');
      const poll = {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: id,
        device_code: String(body['device_code']),
        resource,
      };
      const { access } = tokensIn(await post(flow, '/token', poll));
      expect(decodeJwt(access)).toMatchObject({ aud: resource, scope: SCOPE });
      expect(await statusOf(await get(sendAs(`Bearer ${access}`)))).toBe(200);
    });

    test('whose access is revoked gets no more tokens at once', async () => {
      const { flow, requestUrl: resource } = site;
      const person = await newPerson(flow);
      const browser = await signedIn(flow, person);
      const app = await addApp();
      const code = await app.code(browser, { scope: SCOPE, resource });
      const send = sendAs(`Bearer ${tokensIn(await app.redeem(code, { resource })).access}`);
      expect(await statusOf(await get(send))).toBe(200);
      await flow.pair.cli('user', 'end', person.name);
      await expect(get(send)).rejects.toThrow('failed with code:401');
    });

    test('is not asked by an application without the scope', async () => {
      const { flow, requestUrl: resource } = site;
      const app = await App.add(flow);
      const browser = await signedIn(flow, await newPerson(flow));
      const page = await browser.open(app.url({ scope: SCOPE, resource }));
      expect(page.text).not.toContain(WORDS);
      expect(sent(page).get('error')).toBe('invalid_scope');
    });
  });
});
