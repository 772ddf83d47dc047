import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { testFlow } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

/** Tests how authorization requests arrive, and malformed requests. */
let flow: TestFlow;
beforeAll(async () => {
  flow = await testFlow();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

/** The addresses at which a person is asked, or the client gets its answer. */
const EXPECTED = /^(?:\/interaction\/[\w-]+$|https:\/\/app\.example\/callback\?)/;

describe('requests by POST (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
  const post = (body: string, fields: Record<string, string> = {}) =>
    fetched(`${flow.url}/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...fields },
      body,
    });

  test('a request by POST is redirected to a GET, which has the cookies of a signed-in person', async () => {
    const { search } = new URL(flow.authorize());
    const response = await post(search.slice(1));
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`/auth${search}`);
  });

  test('a request by POST is redirected with encoded characters where they would end the query', async () => {
    const response = await post('state=a\r\nb#c&d=<>"');
    expect(response.headers.get('location')).toBe('/auth?state=a%0D%0Ab%23c&d=%3C%3E%22');
  });

  test('a request by POST is refused on a page if it is too long or no form', async () => {
    const refused = [
      await post(`state=${'a'.repeat(9000)}`),
      await post('%'.repeat(4000)),
      await post('{}', { 'content-type': 'application/json' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([413, 413, 415]);
    for (const { headers } of refused) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
  });
});

describe('malformed requests end in a 4xx or an error for the client', () => {
  const names = [
    'client_id',
    'redirect_uri',
    'response_type',
    'response_mode',
    'scope',
    'state',
    'prompt',
    'max_age',
    'login_hint',
    'ui_locales',
    'id_token_hint',
    'code_challenge',
    'dpop_jkt',
    'code_challenge_method',
    'resource',
    'request',
    'request_uri',
    'acr_values',
    'claims',
    'nonce',
    'display',
    'registration',
    '__proto__',
    'constructor',
    'toString',
  ];
  const odd = fc.oneof(
    fc.string(),
    anyText(),
    fc.constantFrom(
      '__proto__',
      'constructor',
      '{}',
      '[]',
      'null',
      '\u0000',
      'urn:ietf:params:oauth:request_uri:',
      '-0',
      '1e99',
      ' ',
      'none',
      'a.b.c',
    ),
  );

  test('a request with random parameters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...names), odd), { maxLength: 4 }),
        async (changes) => {
          const query = new URLSearchParams(new URL(flow.authorize()).search);
          for (const [name, value] of changes) query.set(name, value.toWellFormed());
          const page = await flow.browser().request('GET', `/auth?${query.toString()}`);
          expect([303, 400]).toContain(page.status);
          const location = page.headers.get('location');
          if (location !== null) expect(location).toMatch(EXPECTED);
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each(['GET', 'HEAD'])('a %s of a request that no longer exists', async (method) => {
    for (const path of [
      '/auth',
      '/auth/x',
      '/session/end',
      '/session/end/success',
      '/session/end/success?client_id=x',
    ]) {
      const { status } = await fetched(flow.url + path, { method });
      expect([path, status < 500]).toEqual([path, true]);
    }
  });

  test('a request with a query that is too long', async () => {
    const response = await fetched(`${flow.url}/auth?state=${'a'.repeat(20_000)}`);
    expect(response.status).toBe(414);
  });
});
