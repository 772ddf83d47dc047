import { describe, expect, test } from '@jest/globals';
import { corsFields, preflight } from './cors.ts';

const PAGES = 'https://pages.example';
const space = { corsOrigins: [PAGES, 'http://localhost:8080'], corsCredentials: false };
const trusting = { ...space, corsCredentials: true };
const closed = { corsOrigins: [], corsCredentials: true };
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
const names = (fields: object) => Object.keys(fields).filter((name) => /^access-/i.test(name));

describe('Fetch, section CORS-preflight fetch', () => {
  const VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

  test('names exactly the methods there are; no page can send TRACE', () => {
    const { status, fields, body } = preflight(space, PAGES, ['PATCH', 'GET', 'QUERY', 'TRACE']);
    expect({ status, body }).toEqual({ status: 204, body: undefined });
    expect(fields).toMatchObject({
      Vary: VARY,
      'Access-Control-Allow-Origin': PAGES,
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS, PATCH, QUERY',
      'Access-Control-Max-Age': '600',
    });
  });

  test.each(OTHERS)('the origin %j is told nothing', (origin) => {
    for (const at of [space, trusting, closed]) {
      expect(preflight(at, origin, ['GET']).fields).toEqual({ Vary: VARY });
    }
  });

  test('names Authorization itself, which `*` does not cover, and the field of API keys', () => {
    const allowed = (more: object) =>
      String(
        preflight({ ...space, ...more }, PAGES, []).fields['Access-Control-Allow-Headers'],
      ).split(', ');
    const always =
      'Authorization DPoP Content-Type If-Match If-None-Match If-Modified-Since If-Unmodified-Since If-Range Range Depth Destination If Lock-Token Overwrite Timeout';
    expect(allowed({})).toEqual(expect.arrayContaining(always.split(' ')));
    expect(allowed({})).not.toContain('*');
    expect(allowed({})).not.toContain('X-Papertrail');
    expect(allowed({ apiKeyField: 'X-Papertrail' })).toContain('X-Papertrail');
  });

  test('does not let a public page into a private network', () => {
    expect(names(preflight(trusting, PAGES, ['GET']).fields).join()).not.toMatch(/private|local/i);
  });
});

describe('Fetch, section CORS protocol and credentials', () => {
  test('only where the space says so, with one origin', () => {
    for (const fields of [corsFields(space, PAGES), preflight(space, PAGES, []).fields]) {
      expect(fields['Access-Control-Allow-Credentials']).toBeUndefined();
    }
    for (const fields of [corsFields(trusting, PAGES), preflight(trusting, PAGES, []).fields]) {
      expect(fields).toMatchObject({
        'Access-Control-Allow-Origin': PAGES,
        'Access-Control-Allow-Credentials': 'true',
      });
      expect(Object.values(fields)).not.toContain('*');
    }
  });
});

describe('Fetch, section CORS check: the fields of an answer', () => {
  test('a listed origin can read what clients need', () => {
    const fields = corsFields(space, PAGES);
    expect(names(fields)).toEqual(['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']);
    expect(fields['Vary']).toBe('Origin');
    const exposed = String(fields['Access-Control-Expose-Headers']).split(', ');
    const needed =
      'ETag Location Content-Location Allow Accept-Query Accept-Patch Accept-Ranges Content-Range DAV Lock-Token DPoP-Nonce WWW-Authenticate Authentication-Info Link Retry-After';
    expect(exposed.toSorted()).toEqual(needed.split(' ').toSorted());
  });

  test.each(OTHERS)('the origin %j reads nothing, and caches know that others may', (origin) => {
    expect(corsFields(trusting, origin)).toEqual({ Vary: 'Origin' });
  });

  test('a space of no origin has none', () => {
    for (const origin of [...OTHERS, PAGES]) expect(corsFields(closed, origin)).toEqual({});
  });
});
