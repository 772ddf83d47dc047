import { expect } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import type { Play } from './play.ts';

const OTHER = 'https://other.example/callback';

/** The modules about authorization requests that are unusual or refused. */
export const requestSteps = (play: () => Play) => {
  const succeeds = async (parameters: Readonly<Record<string, string | undefined>>) => {
    const { site, client } = play();
    await client.signIn(site.visitor(), parameters);
  };

  /** Sends a request as a person, who is not signed in. */
  const arrive = (parameters: Readonly<Record<string, string | undefined>>) => {
    const { site, client } = play();
    return site.visitor().arrive(site.pair.issuer, client.request(parameters));
  };

  /** Expects that an unsigned request object with these claims is refused. */
  const refusesObject = async (claims: Readonly<Record<string, string>>) => {
    const { site, client } = play();
    const { id } = client.registered;
    const usual = { client_id: id, response_type: 'code', scope: 'openid', ...claims };
    const request = new UnsecuredJWT(usual).setIssuer(id).setAudience(site.pair.issuer).encode();
    const { page, signIns } = await arrive({ request });
    expect([signIns, client.received(page)?.get('error')]).toEqual([0, 'request_not_supported']);
  };

  return {
    async 'oidcc-response-type-missing'() {
      const { client } = play();
      const { page, signIns } = await arrive({ response_type: undefined });
      expect(signIns).toBe(0);
      const answer = client.received(page);
      expect(answer?.get('code') ?? null).toBeNull();
      expect(answer?.get('error') ?? page.text).toContain('invalid_request');
    },

    'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': () =>
      succeeds({ nonce: undefined }),
    'oidcc-ensure-request-with-unknown-parameter-succeeds': () => succeeds({ extra: 'foobar' }),

    async 'oidcc-ensure-registered-redirect-uri'() {
      const { page, signIns } = await arrive({ redirect_uri: OTHER });
      expect([page.status, page.headers.get('location'), signIns]).toEqual([400, null, 0]);
      expect(page.forms.map(({ action }) => action)).not.toContain(OTHER);
      expect(page.text).toContain('redirect_uri');
    },

    async 'oidcc-ensure-post-request-succeeds'() {
      const { site, client } = play();
      const request = client.request();
      const { answer } = await client.answer(site.visitor(), request, 'POST');
      await client.redeemed(answer, request);
    },

    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': () =>
      refusesObject({ state: 'that of the object' }),
    'oidcc-ensure-request-object-with-redirect-uri': () => refusesObject({ redirect_uri: OTHER }),
  };
};
