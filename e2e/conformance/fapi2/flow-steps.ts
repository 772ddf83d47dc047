import { expect } from '@jest/globals';
import type { FapiSite } from './fapi-site.ts';

/** The modules of ordinary sign-ins. */
export const flowSteps = (site: () => FapiSite) => ({
  async 'fapi2-security-profile-final-discovery-end-point-verification'() {
    const { pair } = site();
    const response = await fetch(`${pair.issuer}/.well-known/openid-configuration`);
    expect(await response.json()).toMatchObject({
      issuer: pair.issuer,
      pushed_authorization_request_endpoint: `${pair.issuer}/request`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['PS256', 'ES256']),
      id_token_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      authorization_response_iss_parameter_supported: true,
      scopes_supported: expect.arrayContaining(['openid', 'documents:read']),
    });
  },

  async 'fapi2-security-profile-final-happy-flow'() {
    const { first, second } = site();
    for (const [client, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const { access_token } = await client.signIn();
      expect(await client.read(access_token)).toBe(200);
      expect(await other.read(access_token)).toBe(401);
    }
  },

  async 'fapi2-security-profile-final-par-without-duplicate-parameters'() {
    const { first } = site();
    const url = await first.pushed(first.request());
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    expect((await first.answer(url)).get('code')).toEqual(expect.any(String));
  },
});
