import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CALLBACK } from '../../pair/people-client.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';

/** A request as passport passes it to a strategy. */
interface Visit {
  readonly query: Readonly<Record<string, string>>;
  readonly session: object;
}

/** Passport's callbacks, by which a strategy reports the outcome of a request. */
interface Strategy {
  authenticate(visit: Visit): void;
  redirect: (url: string) => void;
  success: (profile: unknown) => void;
  fail: (reason: { readonly message: string }) => void;
  error: (error: Error) => void;
}
type Verified = (error: null, profile: unknown) => void;
type Verify = (issuer: string, profile: unknown, verified: Verified) => void;

const { Strategy } = createRequire(import.meta.url)('passport-openidconnect') as {
  readonly Strategy: new (options: object, verify: Verify) => Strategy;
};

let site: OAuthSite;
let strategy: Strategy;
beforeAll(async () => {
  site = await startOAuthSite();
  const { issuer } = site.pair;
  const options = ['--auth', 'client_secret_post', '--scope', 'openid profile documents:read'];
  const { id, secret } = await site.addClient('--pkce', 'nonce', ...options);
  strategy = new Strategy(
    {
      issuer,
      authorizationURL: `${issuer}/auth`,
      tokenURL: `${issuer}/token`,
      userInfoURL: `${issuer}/userinfo`,
      clientID: id,
      clientSecret: secret,
      callbackURL: CALLBACK,
      scope: 'profile',
      nonce: true,
    },
    (_issuer, profile, verified) => verified(null, profile),
  );
});
afterAll(async () => site?.[Symbol.asyncDispose]());

/** Resolves to the URL of a redirect, or to the signed-in person. */
function visit(session: object, query: Visit['query'] = {}): Promise<unknown> {
  const one = Object.create(strategy) as Strategy;
  return new Promise((resolve, reject) => {
    one.redirect = resolve;
    one.success = resolve;
    one.fail = ({ message }) => reject(new Error(message));
    one.error = reject;
    one.authenticate({ session, query });
  });
}

/** Returns the answer that the browser brings back. */
const answer = async (session: object) =>
  Object.fromEntries((await site.person.answer(String(await visit(session)))).searchParams);

describe('passport-openidconnect with nonce: true, which does not support PKCE', () => {
  test('OpenID Connect Core 1.0 section 3.1: learns the person from ID token and userinfo', async () => {
    const session = {};
    const profile = await visit(session, await answer(session));
    expect(profile).toMatchObject({ id: expect.any(String), username: 'alice' });
  });

  test('RFC 9700 section 4.5.3.2: detects a code that was injected into another session', async () => {
    const [mine, theirs] = [{}, {}];
    const [own, stolen] = [await answer(mine), await answer(theirs)];
    const injected = visit(mine, { ...own, code: stolen['code'] ?? '' });
    await expect(injected).rejects.toThrow('invalid nonce');
  });
});
