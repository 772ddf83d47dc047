import { expect } from '@jest/globals';
import type { FapiSite } from './fapi-site.ts';
import { type CryptoKey, exportJWK, importJWK } from 'jose';
import { addFapiClient, newKey, refusal, type Signed } from './fapi-client.ts';

const NAME = 'fapi2-security-profile-final';

/** The modules about assertions of clients (RFC 7523). */
export function assertionSteps(site: () => FapiSite) {
  /** PAR refuses the assertion, and takes the usual one for the same request. */
  async function refusedAtPar(signed: Signed) {
    const { first } = site();
    const request = first.request();
    const assertion = await first.assertion(signed);
    expect(refusal(await first.push(request, { assertion }))).toEqual([401, 'invalid_client']);
    expect((await first.push(request)).status).toBe(201);
  }

  /** The token endpoint refuses the assertion. */
  async function refusedAtToken(signed: Signed) {
    const { first } = site();
    const request = first.request();
    const code = await first.code(request);
    const assertion = await first.assertion(signed);
    const answer = await first.redeem(code, request, { assertion });
    expect(refusal(answer)).toEqual([401, 'invalid_client']);
  }

  return {
    async [`${NAME}-ensure-signed-client-assertion-with-RS256-fails` as const]() {
      const client = await addFapiClient(site(), [], 'PS256');
      expect((await client.push(client.request())).status).toBe(201);
      const privateKey = (await importJWK(
        await exportJWK(client.key.privateKey),
        'RS256',
      )) as CryptoKey;
      const assertion = await client.assertion({
        key: { ...client.key, alg: 'RS256', privateKey },
      });
      const answer = await client.push(client.request(), { assertion });
      expect(refusal(answer)).toEqual([401, 'invalid_client']);
    },

    async [`${NAME}-ensure-client-assertion-in-token-endpoint` as const]() {
      const { first } = site();
      const request = first.request();
      const form = { client_assertion: undefined, client_assertion_type: undefined };
      const answer = await first.redeem(await first.code(request), request, { form });
      expect(refusal(answer)).toEqual([401, 'invalid_client']);
    },

    async [`${NAME}-ensure-client-assertion-with-exp-is-5-minutes-in-past-fails` as const]() {
      const { first } = site();
      await refusedAtToken({ claims: { exp: first.now() - 300 } });
    },

    async [`${NAME}-ensure-client-assertion-with-wrong-aud-fails` as const]() {
      await refusedAtToken({ claims: { aud: 'https://other1.example.com/invalid' } });
    },

    async [`${NAME}-ensure-client-assertion-with-no-sub-fails` as const]() {
      await refusedAtToken({ claims: { sub: undefined } });
      await refusedAtToken({ key: await newKey() });
    },

    async [`${NAME}-par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted` as const]() {
      const { first } = site();
      const soon = first.now() + 8;
      const assertion = await first.assertion({ claims: { iat: soon, nbf: soon } });
      expect((await first.push(first.request(), { assertion })).status).toBe(201);
    },

    async [`${NAME}-par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails` as const]() {
      const late = site().first.now() + 70;
      await refusedAtPar({ claims: { iat: late, nbf: late, exp: late + 60 } });
    },

    async [`${NAME}-par-test-array-as-audience-fails` as const]() {
      const { issuer } = site().pair;
      await refusedAtPar({ claims: { aud: [issuer, 'https://other1.example.com/'] } });
      await refusedAtPar({ claims: { aud: [issuer] } });
    },

    async [`${NAME}-par-test-par-endpoint-url-as-audience-fails` as const]() {
      await refusedAtPar({ claims: { aud: `${site().pair.issuer}/request` } });
    },

    async [`${NAME}-par-test-token-endpoint-url-as-audience-fails` as const]() {
      await refusedAtPar({ claims: { aud: `${site().pair.issuer}/token` } });
    },
  };
}
