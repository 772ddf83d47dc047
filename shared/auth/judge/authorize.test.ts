import { describe, expect, test } from '@jest/globals';
import { refuse } from '#shared/refusals/spaces.ts';
import { issuerAndVerifier, requestOf, SPACE } from './auth.fixture.ts';
import { authorize } from './authorize.ts';
import { schemeOf } from './judge.fixture.ts';
import { ORIGIN, PROXY, type Principal, type ProtectionSpace, type Scheme } from '../scheme.ts';
import { bearer } from '../schemes/bearer/bearer.ts';

const space: ProtectionSpace = {
  at: ORIGIN,
  realm: 'documents',
  schemes: [bearer({ space: SPACE, tokens: issuerAndVerifier().tokens })],
  scopes: (method) => (method === 'PUT' ? ['a', 'b'] : method === 'GET' ? ['a'] : []),
};
const fields = { 'DPoP-Nonce': 'n' };
const holding = (...scopes: string[]) => passed({ kind: 'anonymous', scopes: new Set(scopes) });
const passed = (principal: Principal) => ({
  kind: 'pass' as const,
  scheme: 'Bearer',
  principal,
  fields,
});
const put = requestOf([], { method: 'PUT' });

describe('RFC 6750 section 3.1: scope', () => {
  test('a principal with all scopes for the method passes unchanged', () => {
    const who = holding('b', 'a', 'c');
    expect(authorize(space, who, put)).toBe(who);
    expect(authorize(space, holding(), requestOf([], { method: 'OPTIONS' })).kind).toBe('pass');
  });

  test('a WebSocket handshake needs its own scopes, which the challenge names', async () => {
    const talking = { ...space, scopes: (method: string) => (method === 'WEBSOCKET' ? ['t'] : []) };
    const request = requestOf([], { handshake: true });
    expect(authorize(talking, holding('t'), request).kind).toBe('pass');
    expect(authorize(talking, holding('a'), request)).toMatchObject({
      ...refuse('scope', { scopes: 't' }),
    });
  });

  test('a principal without scopes lacks every scope', () => {
    expect(authorize(space, passed({ kind: 'anonymous' }), put)).toMatchObject({ status: 403 });
    expect(authorize(space, passed({ kind: 'anonymous' }), requestOf()).kind).toBe('answer');
  });

  test.each([
    [[], 'a b'],
    [['a'], 'a b'],
    [['b'], 'a b'],
    [['c', 'a'], 'a b c'],
    [['A', 'B'], 'a b A B'],
    [['a', 'bb'], 'a b bb'],
  ])(
    "only %j: 403 with the needed scopes and the principal's scopes, none twice",
    (scopes, asked) => {
      expect(authorize(space, holding(...scopes), put)).toEqual({
        kind: 'answer',
        status: 403,
        scheme: 'Bearer',
        refusal: 'scope',
        reason: expect.stringMatching(/^lacks /),
        detail: expect.stringMatching(/^This needs the scope (?:a|b|a b)\.$/),
        fields: {
          'DPoP-Nonce': 'n',
          'WWW-Authenticate': [
            expect.stringMatching(
              new RegExp(`^Bearer .*error="insufficient_scope".*scope="${asked}"`),
            ),
          ],
        },
      });
    },
  );

  test('a scheme without a challenge for missing scope answers 403, too', () => {
    const other = { ...holding('a'), scheme: 'Other' };
    const outcome = authorize(space, other, put);
    expect(outcome).toMatchObject({ status: 403, fields });
    expect(outcome).not.toHaveProperty('fields.WWW-Authenticate');
  });

  test('RFC 6750 section 3.1: a proxy sends the challenge in the field of proxies', () => {
    expect(authorize({ ...space, at: PROXY }, holding('a'), put)).toMatchObject({
      status: 403,
      fields: { 'Proxy-Authenticate': [expect.stringMatching(/insufficient_scope/)] },
    });
  });

  test('RFC 7616 section 3.5: a refusal for missing scope has a proof over its content, too', () => {
    const seal = { hash: 'md5', proof: () => ({}) };
    expect(authorize(space, { ...holding('a'), seal }, put)).toMatchObject({ status: 403, seal });
  });
});

describe('RFC 9470 section 3: a required kind of sign-in', () => {
  const needed = { acrValues: ['urn:countersign:acr:passkey'], maxAge: 60 };
  const tokens = { space: SPACE, tokens: issuerAndVerifier().tokens };
  const silent = schemeOf('Basic');
  const asking = (...schemes: readonly Scheme[]) => ({
    ...space,
    schemes: [bearer(tokens), silent, ...schemes],
    stepUp: (method: string) => (method === 'PUT' ? needed : undefined),
  });

  test('a sign-in that is not enough gives 401 with the required sign-in and all scopes, so that one new token meets both', () => {
    expect(authorize(asking(), holding('c'), put)).toEqual({
      kind: 'answer',
      status: 401,
      scheme: 'Bearer',
      refusal: 'step-up',
      reason: 'needs a sign-in with a passkey at most 60 seconds ago',
      detail: 'This needs a sign-in with a passkey at most 60 seconds ago.',
      needed,
      fields: {
        'DPoP-Nonce': 'n',
        'WWW-Authenticate': [
          expect.stringMatching(
            /^Bearer realm="documents", error="insufficient_user_authentication", error_description="[^"]+", acr_values="urn:countersign:acr:passkey", max_age="60", scope="a b c"/,
          ),
        ],
      },
    });
  });

  test('the kind of sign-in is not required for methods that the rule does not name', () => {
    expect(authorize(asking(), holding('a'), requestOf()).kind).toBe('pass');
  });

  test("the other schemes' challenges are sent if the request's scheme cannot show how the person signed in", () => {
    const outcome = authorize(asking(), { ...holding('a', 'b'), scheme: 'Basic' }, put);
    expect(outcome).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': [expect.stringMatching(/^Bearer .*max_age="60"/)] },
    });
  });

  test('RFC 9110 section 15.5.2: the answer is 403 if no scheme can challenge for a sign-in', () => {
    const outcome = authorize({ ...asking(), schemes: [silent] }, holding('a', 'b'), put);
    expect(outcome).toMatchObject({ status: 403, fields: { 'DPoP-Nonce': 'n' } });
    expect(outcome).not.toHaveProperty('fields.WWW-Authenticate');
  });

  test('a principal that may not enter is not asked for another sign-in', () => {
    const allow = {
      groups: new Set(['staff']),
      people: new Set<string>(),
      clients: new Set<string>(),
    };
    expect(authorize({ ...asking(), allow }, holding('a', 'b'), put)).toMatchObject({
      status: 403,
    });
  });

  test('a space that hides everything still looks absent', () => {
    const outcome = authorize({ ...asking(), hide: 'everything' }, holding('a', 'b'), put);
    expect(outcome.kind).toBe('absent');
  });

  test('with `hide: forbidden` the answer is the same with and without the scope', () => {
    const hiding = { ...asking(), hide: 'forbidden' } as const;
    const answers = [holding('a', 'b', 'c'), holding('c')].map((one) =>
      JSON.stringify(authorize(hiding, one, put)).replace(/scope=[^,]*/, ''),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toContain('"status":401');
    expect(answers[0]).toContain('"untold":true');
  });
});

describe('a space that hides', () => {
  test('a space with `hide: forbidden` answers 404 with the fields of any missing resource', () => {
    const outcome = authorize({ ...space, hide: 'forbidden' }, holding('a'), put);
    expect(outcome).toEqual({
      kind: 'answer',
      status: 404,
      scheme: 'Bearer',
      ...refuse('scope', { scopes: 'b' }),
      untold: true,
      fields,
    });
  });

  test('RFC 4559 section 5: a hidden refusal carries the last token of the exchange, as a missing resource does', () => {
    const owed = { 'WWW-Authenticate': ['Negotiate b2s='], 'DPoP-Nonce': 'n' };
    const outcome = authorize(
      { ...space, hide: 'forbidden' },
      { ...holding('a'), fields: owed },
      put,
    );
    expect(outcome).toMatchObject({ status: 404, fields: owed });
  });

  test('a space with `hide: everything` looks absent', () => {
    const outcome = authorize({ ...space, hide: 'everything' }, holding('a'), put);
    expect(outcome).toEqual({ kind: 'absent', ...refuse('scope', { scopes: 'b' }) });
  });

  test('a space that hides lets a principal with the scope pass', () => {
    const who = holding('a', 'b');
    expect(authorize({ ...space, hide: 'forbidden' }, who, put)).toBe(who);
  });
});
