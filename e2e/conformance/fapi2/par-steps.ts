import { expect } from '@jest/globals';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import type { FapiSite } from './fapi-site.ts';
import { refusal } from './fapi-client.ts';

const NAME = 'fapi2-security-profile-final';

/** The modules about pushed authorization requests (RFC 9126). */
export const parSteps = (site: () => FapiSite) => ({
  /** A browser opens the address, and the person does nothing there; then the person signs in. */
  async [`${NAME}-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds` as const]() {
    const { first, pair } = site();
    const request = first.request();
    const url = await first.pushed(request);
    const page = await new TestBrowser(pair.issuer, pair.issuer).open(url.href);
    expect([page.status, page.forms.length > 0]).toEqual([200, true]);
    const code = (await first.answer(url)).get('code') ?? '';
    expect((await first.redeem(code, request)).status).toBe(200);
  },

  async [`${NAME}-par-attempt-reuse-request_uri` as const]() {
    const { first } = site();
    const request = first.request();
    const url = await first.pushed(request);
    const code = (await first.answer(url)).get('code') ?? '';
    expect((await first.redeem(code, request)).status).toBe(200);
    expect(await first.refused(url)).toBe(400);
  },

  async [`${NAME}-par-attempt-to-use-expired-request_uri` as const]() {
    const { first, pass } = site();
    const request = first.request();
    const { body } = await first.push(request);
    const lives = Number(body['expires_in']);
    // Section 5.3.2.2: less than 600 s.
    expect(lives).toBeLessThan(600);
    const url = first.address({ request_uri: String(body['request_uri']) });
    await pass(lives + 1);
    expect(await first.refused(url)).toBe(400);
  },

  async [`${NAME}-par-attempt-to-use-request_uri-for-different-client` as const]() {
    const { first, second } = site();
    const url = await first.pushed(first.request());
    url.searchParams.set('client_id', second.id);
    expect(await second.refused(url)).toBe(400);
  },

  async [`${NAME}-par-authorization-request-containing-request_uri-form-param` as const]() {
    const { first } = site();
    const form = { request_uri: 'urn:ietf:params:oauth:request_uri:random' };
    expect(refusal(await first.push(first.request(), { form }))).toEqual([
      400,
      'request_uri_not_supported',
    ]);
  },

  async [`${NAME}-par-attempt-invalid-http-method` as const]() {
    const { first, pair } = site();
    const body = new URLSearchParams({ client_id: first.id, ...first.request().parameters });
    const put = await fetch(`${pair.issuer}/request`, { method: 'PUT', body });
    const get = await fetch(`${pair.issuer}/request?${body.toString()}`);
    expect([put.status, get.status]).toEqual([501, 405]);
  },

  async [`${NAME}-par-ensure-pkce-required` as const]() {
    const { first } = site();
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    expect(refusal(await first.push(first.request(without)))).toEqual([400, 'invalid_request']);
  },

  async [`${NAME}-par-plain-pkce-rejected` as const]() {
    const { first } = site();
    const { verifier } = first.request();
    const plain = { code_challenge: verifier, code_challenge_method: 'plain' };
    expect(refusal(await first.push(first.request(plain)))).toEqual([400, 'invalid_request']);
  },

  async [`${NAME}-par-without-duplicate-parameters` as const]() {
    const { first } = site();
    const request = first.request();
    const url = await first.pushed(request);
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    const code = (await first.answer(url)).get('code') ?? '';
    const { status, body } = await first.redeem(code, request);
    expect(status).toBe(200);
    expect(await first.read(String(body['access_token']))).toBe(200);
  },
});
