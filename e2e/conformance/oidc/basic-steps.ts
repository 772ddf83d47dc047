import { hash, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { claimSteps } from './claim-steps.ts';
import type { OidcSite } from './oidc-site.ts';
import { requestSteps } from './request-steps.ts';
import { sessionSteps } from './session-steps.ts';
import { type Play, type Redeemed, redeemOnce, untilTime } from './play.ts';
import { SuiteClient } from './suite-client.ts';

/** How each module of the plans Basic and Form Post is performed. `early`: a code that was redeemed at the start. */
export const basicSteps = (play: () => Play, early: () => Redeemed) => ({
  async 'oidcc-server'() {
    await expectSignIn(play().client, play().site);
  },
  ...requestSteps(play),
  ...claimSteps(play),
  ...sessionSteps(play),

  async 'oidcc-codereuse'() {
    const { client } = play();
    const { code } = await redeemOnce(play());
    expect(await client.redeem(code)).toMatchObject(INVALID_GRANT);
  },

  async 'oidcc-codereuse-30seconds'() {
    const { client } = play();
    const { code, tokens, at } = early();
    await untilTime(at + 30_000);
    expect(await client.redeem(code)).toMatchObject(INVALID_GRANT);
    expect((await client.userinfo(tokens)).status).toBe(401);
  },

  async 'oidcc-server-client-secret-post'() {
    const { site, mode } = play();
    await expectSignIn(new SuiteClient(site.pair, site.byPost, mode, 'client_secret_post'), site);
  },

  async 'oidcc-refresh-token'() {
    const { site, client, mode } = play();
    const second = new SuiteClient(site.pair, site.second, mode);
    const offline = { scope: 'openid offline_access', prompt: 'consent' };
    for (const one of [client, second]) {
      const { tokens, claims } = await one.signIn(site.visitor(), offline);
      const other = one === client ? second : client;
      expect(await other.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT);
      const { status, body } = await one.refresh(tokens.refresh_token);
      expect([status, body['access_token'] === tokens.access_token]).toEqual([200, false]);
      expect(await one.claims(String(body['id_token']))).toMatchObject({
        iss: claims.iss,
        sub: claims.sub,
        aud: claims.aud,
        auth_time: claims['auth_time'],
      });
    }
  },

  async 'oidcc-ensure-request-with-valid-pkce-succeeds'() {
    const { site, client } = play();
    const code_verifier = randomUUID() + randomUUID();
    const code_challenge = hash('sha256', code_verifier, 'base64url');
    const pkce = { code_challenge, code_challenge_method: 'S256' };
    await client.signIn(site.visitor(), pkce, { code_verifier });
  },
});

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } };

/** Expects that the ID token and userinfo name the person. */
async function expectSignIn(client: SuiteClient, { visitor, person }: OidcSite): Promise<void> {
  const { tokens, claims } = await client.signIn(visitor());
  expect(claims.sub).toBe(person.id);
  expect((await client.userinfo(tokens)).body).toEqual({ sub: person.id });
}
