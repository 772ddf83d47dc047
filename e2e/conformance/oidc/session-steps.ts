import { expect } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { type Play, untilTime } from './play.ts';

/** The modules with two sign-ins of one browser, and about the way of the sign-in. */
export const sessionSteps = (play: () => Play) => {
  /** Resolves when a sign-in would be more than a second later than the one of the ID token. */
  const later = (claims: JWTPayload) => untilTime((Number(claims['auth_time']) + 2) * 1000);

  /** Expects that a second request asks for a password, and has a later auth_time. */
  const asksAgain = async (parameters: Readonly<Record<string, string>>) => {
    const { site, client } = play();
    const visitor = site.visitor();
    const first = await client.signIn(visitor);
    await later(first.claims);
    const second = await client.signIn(visitor, parameters);
    expect([first.signIns, second.signIns]).toEqual([1, 1]);
    expect(second.claims.sub).toBe(first.claims.sub);
    expect(Number(second.claims['auth_time'])).toBeGreaterThan(Number(first.claims['auth_time']));
  };

  /** Expects that a second request asks for nothing, and has the same sub and auth_time. */
  const staysSignedIn = async (
    parametersFor: (idToken: string) => Readonly<Record<string, string>>,
  ) => {
    const { site, client } = play();
    const visitor = site.visitor();
    const first = await client.signIn(visitor);
    const second = await client.signIn(visitor, parametersFor(first.tokens.id_token));
    expect(second.signIns).toBe(0);
    expect([second.claims.sub, second.claims['auth_time']]).toEqual([
      first.claims.sub,
      first.claims['auth_time'],
    ]);
  };

  /** Expects that a request with these parameters succeeds. */
  const succeeds = async (parameters: Readonly<Record<string, string>>) => {
    const { site, client } = play();
    const { claims } = await client.signIn(site.visitor(), parameters);
    expect(claims.sub).toBe(site.person.id);
    return claims;
  };

  return {
    'oidcc-display-page': () => succeeds({ display: 'page' }).then(() => undefined),
    'oidcc-display-popup': () => succeeds({ display: 'popup' }).then(() => undefined),
    'oidcc-prompt-login': () => asksAgain({ prompt: 'login' }),

    async 'oidcc-prompt-none-not-logged-in'() {
      const { site, client } = play();
      const request = client.request({ prompt: 'none' });
      const { answer, signIns } = await client.answer(site.visitor(), request);
      expect([signIns, answer.get('error'), answer.get('code')]).toEqual([
        0,
        'login_required',
        null,
      ]);
    },

    'oidcc-prompt-none-logged-in': () => staysSignedIn(() => ({ prompt: 'none' })),
    'oidcc-max-age-1': () => asksAgain({ max_age: '1' }),
    'oidcc-max-age-10000': () => staysSignedIn(() => ({ max_age: '10000' })),
    'oidcc-id-token-hint': () =>
      staysSignedIn((id_token_hint) => ({ prompt: 'none', id_token_hint })),
    'oidcc-login-hint': () => succeeds({ login_hint: 'buffy@127.0.0.1' }).then(() => undefined),
    'oidcc-ui-locales': () => succeeds({ ui_locales: 'se' }).then(() => undefined),
    'oidcc-claims-locales': () => succeeds({ claims_locales: 'se' }).then(() => undefined),

    async 'oidcc-ensure-request-with-acr-values-succeeds'() {
      const { pair } = play().site;
      const metadata = await fetch(`${pair.issuer}/.well-known/openid-configuration`);
      const { acr_values_supported } = (await metadata.json()) as {
        acr_values_supported: string[];
      };
      const claims = await succeeds({ acr_values: acr_values_supported.join(' ') });
      expect(acr_values_supported).toContain(claims['acr']);
    },
  };
};
