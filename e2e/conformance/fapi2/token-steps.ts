import { expect } from '@jest/globals';
import type { FapiSite } from './fapi-site.ts';
import { refusal } from './fapi-client.ts';

const NAME = 'fapi2-security-profile-final';

/** The modules about codes and refresh tokens at the token endpoint. */
export function tokenSteps(site: () => FapiSite) {
  async function newCode() {
    const { first } = site();
    const request = first.request();
    return { request, code: await first.code(request) };
  }

  return {
    async [`${NAME}-ensure-client-id-in-token-endpoint` as const]() {
      const { first, second } = site();
      const { request, code } = await newCode();
      const assertion = await second.assertion({ key: first.key });
      const form = { client_id: second.id };
      expect(refusal(await first.redeem(code, request, { assertion, form }))).toEqual([
        401,
        'invalid_client',
      ]);
    },

    async [`${NAME}-ensure-holder-of-key-required` as const]() {
      const { first } = site();
      const { request, code } = await newCode();
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: request.parameters['redirect_uri'],
        code_verifier: request.verifier,
      };
      expect(refusal(await first.post('/token', form))).toEqual([400, 'invalid_request']);
    },

    async [`${NAME}-ensure-authorization-code-is-bound-to-client` as const]() {
      const { second } = site();
      const { request, code } = await newCode();
      expect(refusal(await second.redeem(code, request))).toEqual([400, 'invalid_grant']);
    },

    async [`${NAME}-attempt-reuse-authorization-code-after-one-second` as const]() {
      const { first, pass } = site();
      const { request, code } = await newCode();
      const { body } = await first.redeem(code, request);
      const token = String(body['access_token']);
      expect(await first.read(token)).toBe(200);
      await pass(1);
      expect(refusal(await first.redeem(code, request))).toEqual([400, 'invalid_grant']);
      expect(await first.read(token)).toBe(401);
    },

    async [`${NAME}-ensure-token-endpoint-fails-with-expired-auth-code` as const]() {
      const { first, pass } = site();
      const { request, code } = await newCode();
      await pass(62);
      expect(refusal(await first.redeem(code, request))).toEqual([400, 'invalid_grant']);
    },

    async [`${NAME}-refresh-token` as const]() {
      const { first, second, pair } = site();
      const offline = { scope: 'openid offline_access documents:read', prompt: 'consent' };
      const all = [];
      for (const client of [first, second]) {
        const { refresh_token: token } = await client.signIn(offline);
        const { status, body } = await client.refresh(token);
        // Section 5.3.2.1: it is not replaced.
        expect([status, body['refresh_token']]).toEqual([200, token]);
        const access = String(body['access_token']);
        expect(await client.read(access)).toBe(200);
        all.push({ token, access });
      }
      const [own, other] = all;
      const form = { grant_type: 'refresh_token', refresh_token: own?.token };
      const DPoP = await first.proof('/token');
      const bare = await fetch(`${pair.issuer}/token`, {
        method: 'POST',
        headers: { DPoP },
        body: new URLSearchParams({
          grant_type: form.grant_type,
          refresh_token: form.refresh_token ?? '',
          client_id: first.id,
        }),
      });
      expect(bare.status).toBe(401);
      expect(refusal(await first.post('/token', form))).toEqual([400, 'invalid_request']);
      expect(await first.read(other?.access ?? '')).toBe(401);
      expect(refusal(await first.refresh(other?.token ?? ''))).toEqual([400, 'invalid_grant']);
      expect((await first.refresh(own?.token ?? '')).status).toBe(200);
    },

    async [`${NAME}-ensure-pkce-code-verifier-required` as const]() {
      const { first } = site();
      const { request, code } = await newCode();
      const form = { code_verifier: undefined };
      expect(refusal(await first.redeem(code, request, { form }))).toEqual([400, 'invalid_grant']);
    },

    async [`${NAME}-incorrect-pkce-code-verifier-rejected` as const]() {
      const { first } = site();
      const { request, code } = await newCode();
      const form = { code_verifier: first.request().verifier };
      expect(refusal(await first.redeem(code, request, { form }))).toEqual([400, 'invalid_grant']);
    },
  };
}
