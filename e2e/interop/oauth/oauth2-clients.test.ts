import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import { CALLBACK } from '../../pair/people-client.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';

interface Token {
  readonly token: Readonly<Record<string, string>>;
  refresh(): Promise<Token>;
  revokeAll(): Promise<void>;
}
interface AuthorizationCode {
  authorizeURL(parameters: object): string;
  getToken(parameters: object): Promise<Token>;
}
const { AuthorizationCode } = createRequire(import.meta.url)('simple-oauth2') as {
  readonly AuthorizationCode: new (options: object) => AuthorizationCode;
};

const SCOPE = ['documents:read'];

let site: OAuthSite;
let client: { readonly id: string; readonly secret: string };
beforeAll(async () => {
  site = await startOAuthSite();
  client = await site.addClient('--scope', SCOPE.join(' '));
});
afterAll(async () => site?.[Symbol.asyncDispose]());

const status = (token = '') => site.pair.get(token);

describe('simple-oauth2', () => {
  const open = () =>
    new AuthorizationCode({
      client,
      auth: {
        tokenHost: site.pair.issuer,
        authorizePath: '/auth',
        tokenPath: '/token',
        revokePath: '/token/revocation',
      },
    });

  test('gets, refreshes and revokes tokens, if the caller adds the PKCE parameters', async () => {
    const code_verifier = randomBytes(32).toString('base64url');
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const app = open();
    const asked = { redirect_uri: CALLBACK, scope: SCOPE, state: 'a state' };
    const pkce = { code_challenge, code_challenge_method: 'S256' };
    const answer = await site.person.answer(app.authorizeURL({ ...asked, ...pkce }));
    const code = answer.searchParams.get('code');
    const first = await app.getToken({ code, redirect_uri: CALLBACK, code_verifier });
    const second = await first.refresh();
    expect(await status(second.token['access_token'])).toBe(200);
    await second.revokeAll();
    expect(await status(second.token['access_token'])).toBe(401);
  });

  test('RFC 7636 section 4.4.1: used as in its README, gets an error that names the missing parameter', async () => {
    const url = open().authorizeURL({ redirect_uri: CALLBACK, scope: SCOPE, state: 'a state' });
    const { searchParams } = await site.person.answer(url);
    expect(searchParams.get('error')).toBe('invalid_request');
    expect(searchParams.get('error_description')).toMatch(
      /code_challenge and code_challenge_method/,
    );
  });
});

describe('@badgateway/oauth2-client', () => {
  test('gets, refreshes and revokes tokens by metadata (RFC 8414, RFC 7009)', async () => {
    const app = new OAuth2Client({
      server: site.pair.issuer,
      discoveryEndpoint: '/.well-known/oauth-authorization-server',
      clientId: client.id,
      clientSecret: client.secret,
    });
    const codeVerifier = await generateCodeVerifier();
    const checks = { redirectUri: CALLBACK, state: 'a state', codeVerifier };
    const url = await app.authorizationCode.getAuthorizeUri({ ...checks, scope: SCOPE });
    const answer = await site.person.answer(url);
    const first = await app.authorizationCode.getTokenFromCodeRedirect(answer, checks);
    const token = await app.refreshToken(first);
    expect(await status(token.accessToken)).toBe(200);
    await app.revoke(token);
    await app.revoke(token, 'refresh_token');
    expect(await status(token.accessToken)).toBe(401);
  });
});
