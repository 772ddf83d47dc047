import { describe, expect, test } from '@jest/globals';
import { listed, preflight } from './cors.ts';

const PAGES = 'https://pages.example';
const ORIGINS = [PAGES, 'http://localhost:8080'];
const space = listed({ origins: ORIGINS, credentials: false });
const trusting = listed({ origins: ORIGINS, credentials: true });
const closed = listed({ origins: [], credentials: true });
const OTHERS = [
  undefined,
  '',
  'null',
  '*',
  'https://evil.example',
  `${PAGES}.evil.example`,
  `${PAGES}/`,
  `${PAGES}:443`,
  PAGES.toUpperCase(),
  `${PAGES}, https://evil.example`,
];
const from = (origin: string | undefined, asked?: string) => ({
  headers: {
    ...(origin !== undefined && { origin }),
    ...(asked !== undefined && { 'access-control-request-headers': asked }),
  },
});
const names = (fields: object) => Object.keys(fields).filter((name) => /^access-/i.test(name));

describe('Fetch, section CORS-preflight fetch', () => {
  const VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

  test('a preflight answer names exactly the supported methods, without TRACE', () => {
    const { status, fields, body } = preflight(space, from(PAGES), [
      'PATCH',
      'GET',
      'QUERY',
      'TRACE',
    ]);
    expect({ status, body }).toEqual({ status: 204, body: undefined });
    expect(fields).toMatchObject({
      Vary: VARY,
      'Access-Control-Allow-Origin': PAGES,
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS, PATCH, QUERY',
      'Access-Control-Max-Age': '600',
    });
  });

  test.each(OTHERS)('the origin %j gets no CORS fields', (origin) => {
    for (const at of [space, trusting, closed]) {
      expect(preflight(at, from(origin), ['GET']).fields).toEqual({ Vary: VARY });
    }
  });

  test('a preflight answer allows each requested field, including Authorization, which `*` does not cover', () => {
    const asked = 'authorization,x-okta-user-agent-extended, depth,lock-token , x-papertrail';
    expect(preflight(space, from(PAGES, asked), []).fields['Access-Control-Allow-Headers']).toBe(
      'authorization, x-okta-user-agent-extended, depth, lock-token, x-papertrail',
    );
  });

  test.each([undefined, '', ' , ,', 'a b', 'a:b', '"a"', '(', 'é', 'a;b'])(
    'a preflight for %j, which names no field, allows no field',
    (asked) => {
      const { fields } = preflight(space, from(PAGES, asked), []);
      expect(fields).not.toHaveProperty('Access-Control-Allow-Headers');
    },
  );

  test('a preflight answer does not allow a public page to reach a private network', () => {
    expect(names(preflight(trusting, from(PAGES), ['GET']).fields).join()).not.toMatch(
      /private|local/i,
    );
  });
});

describe('Fetch, section CORS protocol and credentials', () => {
  test('credentials are allowed only if the space is configured so, for one origin', () => {
    for (const fields of [space.answers(PAGES), preflight(space, from(PAGES), []).fields]) {
      expect(fields['Access-Control-Allow-Credentials']).toBeUndefined();
    }
    for (const fields of [trusting.answers(PAGES), preflight(trusting, from(PAGES), []).fields]) {
      expect(fields).toMatchObject({
        'Access-Control-Allow-Origin': PAGES,
        'Access-Control-Allow-Credentials': 'true',
      });
      expect(Object.values(fields)).not.toContain('*');
    }
  });
});

describe('Fetch, section CORS check: the fields of an answer', () => {
  test('a listed origin can read the fields that clients need', () => {
    const fields = space.answers(PAGES);
    expect(names(fields)).toEqual(['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']);
    expect(fields['Vary']).toBe('Origin');
    const exposed = String(fields['Access-Control-Expose-Headers']).split(', ');
    const needed =
      'ETag Location Content-Location Preference-Applied Allow Accept-Query Accept-Patch Accept-Ranges Content-Range DAV Lock-Token Mcp-Session-Id DPoP-Nonce WWW-Authenticate Authentication-Info Link RateLimit RateLimit-Policy Retry-After TTL';
    expect(exposed.toSorted()).toEqual(needed.split(' ').toSorted());
  });

  test.each(OTHERS)(
    'the origin %j can read no answer, and Vary tells caches that another origin may',
    (origin) => {
      expect(trusting.answers(origin)).toEqual({ Vary: 'Origin' });
    },
  );

  test('a space without origins sends no CORS fields', () => {
    for (const origin of [...OTHERS, PAGES]) expect(closed.answers(origin)).toEqual({});
  });
});
