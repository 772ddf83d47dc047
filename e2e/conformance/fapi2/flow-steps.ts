import { hash } from 'node:crypto';
import { expect } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type FapiSite, WITH_QUERY } from './fapi-site.ts';
import { type Changes, refusal, thumbprint } from './fapi-client.ts';

const NAME = 'fapi2-security-profile-final';

/** The modules of ordinary sign-ins, and of parameters that are missing, unusual or in the wrong place. */
export function flowSteps(site: () => FapiSite) {
  /** A whole sign-in whose authorization request has further parameters beside the `request_uri`. */
  async function beside(pushed: Changes, further: Changes) {
    const { first } = site();
    const request = first.request(pushed);
    const url = await first.pushed(request);
    for (const [name, value = ''] of Object.entries(further)) url.searchParams.set(name, value);
    const answer = await first.answer(url);
    const tokens = await first.redeem(answer.get('code') ?? '', request);
    expect(tokens.status).toBe(200);
    return { request, answer, idToken: decodeJwt(String(tokens.body['id_token'])) };
  }

  return {
    async [`${NAME}-discovery-end-point-verification` as const]() {
      const { pair } = site();
      const response = await fetch(`${pair.issuer}/.well-known/openid-configuration`);
      const metadata = (await response.json()) as Record<string, readonly string[]>;
      expect(metadata).toMatchObject({
        issuer: pair.issuer,
        pushed_authorization_request_endpoint: `${pair.issuer}/request`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
        authorization_response_iss_parameter_supported: true,
        grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token']),
        scopes_supported: expect.arrayContaining(['openid', 'documents:read']),
      });
      for (const member of ['token_endpoint_auth', 'id_token', 'dpop']) {
        const algs = metadata[`${member}_signing_alg_values_supported`];
        expect([member, algs]).toEqual([member, expect.arrayContaining(['ES256'])]);
        expect(algs).not.toContain('none');
      }
    },

    /** The second client has a redirect URI with a query, and binds its code by `dpop_jkt` alone. */
    async [`${NAME}-happy-flow` as const]() {
      const { first, second, pair } = site();
      const { access_token, id_token } = await first.signIn();
      expect(decodeProtectedHeader(id_token).alg).toBe('ES256');
      expect(await first.read(access_token)).toBe(200);
      for (const Accept of ['application/json; charset=utf-8', '*/*']) {
        expect(await first.read(access_token, {}, { Accept })).toBe(200);
      }
      const inQuery = await fetch(`${pair.documents}?access_token=${access_token}`, {
        headers: { DPoP: await first.proofToRead(access_token) },
      });
      expect(inQuery.status).toBe(401);
      const others = await second.signIn({
        redirect_uri: WITH_QUERY,
        dpop_jkt: await thumbprint(second.bound),
      });
      expect(await second.read(others.access_token)).toBe(200);
      expect(await first.read(others.access_token)).toBe(401);
    },

    async [`${NAME}-user-rejects-authentication` as const]() {
      for (const client of [site().first, site().second]) {
        const request = client.request({ prompt: 'consent' });
        const answer = await client.answer(await client.pushed(request), 'deny');
        expect([answer.get('error'), answer.get('state')]).toEqual([
          'access_denied',
          request.parameters['state'],
        ]);
      }
    },

    async [`${NAME}-ensure-authorization-request-without-state-success` as const]() {
      const { answer } = await beside({ state: undefined }, {});
      expect(answer.has('state')).toBe(false);
    },

    async [`${NAME}-ensure-authorization-request-without-nonce-success` as const]() {
      const { idToken } = await beside({ nonce: undefined }, {});
      expect(idToken).not.toHaveProperty('nonce');
    },

    async [`${NAME}-ensure-authorization-request-with-64-char-nonce-success` as const]() {
      const nonce = 'n'.repeat(64);
      expect((await beside({ nonce }, {})).idToken).toMatchObject({ nonce });
    },

    async [`${NAME}-ensure-other-scope-order-succeeds` as const]() {
      const { idToken } = await beside({ scope: 'documents:read openid' }, {});
      expect(idToken.sub).toBe(site().person.id);
    },

    async [`${NAME}-test-claims-parameter-identity-claims` as const]() {
      const { first, pair, person } = site();
      const asked = { preferred_username: null, email: { essential: false }, 'x-unknown': null };
      const claims = JSON.stringify({ id_token: asked, userinfo: asked });
      const tokens = await first.signIn({ scope: 'openid profile', claims });
      const path = `${pair.issuer}/userinfo`;
      const ath = hash('sha256', tokens.access_token, 'base64url');
      const DPoP = await first.proof('/userinfo', { claims: { htm: 'GET', ath } });
      const headers = { Authorization: `DPoP ${tokens.access_token}`, DPoP };
      const userinfo = (await (await fetch(path, { headers })).json()) as Record<string, unknown>;
      const all = { ...decodeJwt(tokens.id_token), ...userinfo };
      expect(all).toMatchObject({ sub: person.id, preferred_username: person.name });
      expect(all).not.toHaveProperty('x-unknown');
    },

    async [`${NAME}-access-token-type-header-case-sensitivity` as const]() {
      const { first } = site();
      const { access_token } = await first.signIn();
      const fields = { Authorization: `dpOp ${access_token}` };
      expect(await first.read(access_token, {}, fields)).toBe(200);
    },

    async [`${NAME}-ensure-different-nonce-inside-and-outside-request-object` as const]() {
      const { request, idToken } = await beside({}, { nonce: 'another' });
      expect(idToken['nonce']).toBe(request.parameters['nonce']);
    },

    async [`${NAME}-ensure-different-state-inside-and-outside-request-object` as const]() {
      const { request, answer } = await beside({}, { state: 'another' });
      expect(answer.get('state')).toBe(request.parameters['state']);
    },

    async [`${NAME}-state-only-outside-request-object-not-used` as const]() {
      const { answer } = await beside({ state: undefined }, { state: 'another' });
      expect(answer.has('state')).toBe(false);
    },

    async [`${NAME}-ensure-authorization-request-with-long-nonce` as const]() {
      const nonce = 'n'.repeat(384);
      expect((await beside({ nonce }, {})).idToken).toMatchObject({ nonce });
    },

    async [`${NAME}-ensure-authorization-request-with-long-state` as const]() {
      const state = 's'.repeat(1000);
      expect((await beside({ state }, {})).answer.get('state')).toBe(state);
    },

    async [`${NAME}-ensure-request-object-without-redirect-uri-fails` as const]() {
      const { first } = site();
      const answer = await first.push(first.request({ redirect_uri: undefined }));
      expect(refusal(answer)).toEqual([400, 'invalid_request']);
    },

    async [`${NAME}-plain-fapi-tolerate-unregistered-redirect-uri` as const]() {
      const { first } = site();
      const redirect_uri = 'https://app.example/not-registered';
      const answer = await first.push(first.request({ redirect_uri }));
      expect(refusal(answer)).toEqual([400, 'invalid_request']);
    },

    async [`${NAME}-ensure-unsigned-authorization-request-without-using-par-fails` as const]() {
      const { first } = site();
      const refused = await first.refused(first.address(first.request().parameters));
      expect(refused).toBe('invalid_request');
    },

    async [`${NAME}-ensure-redirect-uri-in-authorization-request` as const]() {
      const { second } = site();
      const answer = await second.push(second.request({ redirect_uri: undefined }));
      expect(refusal(answer)).toEqual([400, 'invalid_request']);
    },

    async [`${NAME}-ensure-response-type-code-idtoken-fails` as const]() {
      const { first } = site();
      const answer = await first.push(first.request({ response_type: 'code id_token' }));
      expect(refusal(answer)).toEqual([400, 'unsupported_response_type']);
    },

    async [`${NAME}-ensure-response-type-token-fails` as const]() {
      const { first } = site();
      const answer = await first.push(first.request({ response_type: 'token' }));
      expect(refusal(answer)).toEqual([400, 'unsupported_response_type']);
    },
  };
}
