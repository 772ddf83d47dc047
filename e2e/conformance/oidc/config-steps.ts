import { expect } from '@jest/globals';
import type { OidcSite } from './oidc-site.ts';

const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'];

/** The module of the plan Config. The suite also requires https, which a deployment has. */
export const configSteps = (site: () => OidcSite) => ({
  async 'oidcc-discovery-endpoint-verification'() {
    const { issuer } = site().pair;
    const response = await fetch(`${issuer}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('application/json'),
    ]);
    const metadata = (await response.json()) as Record<string, unknown>;
    const has = (...values: string[]) => expect.arrayContaining(values);
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      grant_types_supported: has('authorization_code', 'refresh_token'),
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: has('RS256'),
      token_endpoint_auth_methods_supported: has('client_secret_basic', 'client_secret_post'),
      code_challenge_methods_supported: ['S256'],
      scopes_supported: has('openid', 'profile', 'email', 'address', 'phone', 'offline_access'),
      claims_supported: has('sub', 'name', 'email', 'phone_number', 'address'),
      claims_parameter_supported: true,
      request_uri_parameter_supported: false,
      ui_locales_supported: ['en', 'de'],
    });
    for (const scope of metadata['scopes_supported'] as string[]) {
      expect(scope).toMatch(/^[!#-[\]-~]+$/);
    }
    const endpoints = Object.keys(metadata).filter((name) => name.endsWith('_endpoint'));
    for (const name of endpoints) {
      expect(new URL(String(metadata[name])).origin).toBe(issuer);
    }
    expect(endpoints).toContain('revocations_endpoint');
    const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as {
      keys: readonly Readonly<Record<string, unknown>>[];
    };
    expect(keys.map(({ alg }) => alg)).toEqual(has('RS256', 'ES256'));
    for (const key of keys) {
      expect(key['kty']).toMatch(/^(?:RSA|EC|OKP)$/);
      for (const member of PRIVATE) expect(key).not.toHaveProperty(member);
    }
  },
});
