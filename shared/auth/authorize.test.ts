import { describe, expect, test } from '@jest/globals';
import { issuerAndVerifier, requestOf, SPACE } from './auth.fixture.ts';
import { authorize } from './authorize.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from './scheme.ts';
import { bearer } from './schemes/bearer.ts';

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
  test('all that the method needs: passes unchanged', () => {
    const who = holding('b', 'a', 'c');
    expect(authorize(space, who, put)).toBe(who);
    expect(authorize(space, holding(), requestOf([], { method: 'OPTIONS' })).kind).toBe('pass');
  });

  test('a scheme that knows no scopes has those of the space', () => {
    expect(authorize(space, passed({ kind: 'anonymous' }), put).kind).toBe('pass');
  });

  test.each([[[]], [['a']], [['A', 'B']], [['a b']], [['a', 'bb']]])(
    'only %j: 403 with the scopes that are needed',
    (scopes) => {
      expect(authorize(space, holding(...scopes), put)).toEqual({
        kind: 'answer',
        status: 403,
        scheme: 'Bearer',
        reason: expect.stringMatching(/^lacks /),
        fields: {
          'DPoP-Nonce': 'n',
          'WWW-Authenticate': [
            expect.stringMatching(/^Bearer .*error="insufficient_scope".*scope="a b"/),
          ],
        },
      });
    },
  );

  test('by a scheme without a challenge for that: 403 all the same', () => {
    const other = { ...holding('a'), scheme: 'Other' };
    expect(authorize(space, other, put)).toMatchObject({ status: 403, fields });
  });
});

describe('a space that hides', () => {
  test('what is forbidden: 404 with the fields of any missing resource', () => {
    const outcome = authorize({ ...space, hide: 'forbidden' }, holding('a'), put);
    expect(outcome).toEqual({
      kind: 'answer',
      status: 404,
      scheme: 'Bearer',
      reason: 'lacks b',
      fields,
    });
  });

  test('everything: absent', () => {
    const outcome = authorize({ ...space, hide: 'everything' }, holding('a'), put);
    expect(outcome).toEqual({ kind: 'absent', reason: 'lacks b' });
  });

  test('who holds the scope passes', () => {
    const who = holding('a', 'b');
    expect(authorize({ ...space, hide: 'forbidden' }, who, put)).toBe(who);
  });
});
