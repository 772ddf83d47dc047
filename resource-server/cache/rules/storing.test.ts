import { describe, expect, test } from '@jest/globals';
import { PRIVATE, AT_ONCE, asked, date, linesFrom, NOW, raw, SHARED } from './rules.fixture.ts';
import type { Asked, Rules } from './rules.ts';
import { mayStore } from './storing.ts';

interface Over extends Partial<Asked> {
  readonly status?: number;
  readonly rules?: Rules;
}

const storing = (fields: readonly string[], { status = 200, rules = SHARED, ...over }: Over = {}) =>
  mayStore(asked(over), { status, lines: linesFrom(...fields) }, AT_ONCE, rules);

/** Returns the reason why an answer is not stored. Undefined: it is stored. */
const refused = (fields: readonly string[], over?: Over) => {
  const verdict = storing(fields, over);
  return verdict.store ? undefined : verdict.reason;
};

const FRESH = 'Cache-Control: max-age=60';
const fresh = (directives: string) => [`Cache-Control: max-age=60, ${directives}`];
const AUTHORIZED = { rawHeaders: raw('Authorization: Basic YTpi') };

describe('RFC 9111 section 3: answers that a cache stores', () => {
  test.each(['GET', 'QUERY'])('an answer to %s with a lifetime', (method) => {
    expect(refused([FRESH], { method })).toBeUndefined();
  });

  test.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PROPFIND', 'M-SEARCH', 'SEARCH', 'TRACE'])(
    'an answer to %s is not stored',
    (method) => {
      expect(refused([FRESH, 'Content-Location: /a'], { method })).toBe('method');
    },
  );

  test.each([
    [fresh('no-store'), 'no-store'],
    [[...fresh('nO-StOrE'), `Expires: ${date(9)}`], 'no-store'],
    [fresh('private'), 'private'],
    [[FRESH, 'Vary: *'], 'vary'],
    [[FRESH, 'Vary: a', 'Vary: , *'], 'vary'],
    [[], 'useless'],
    [['Cache-Control: max-age=0'], 'useless'],
    [[`Expires: ${date(-9)}`, `Date: ${date(0)}`], 'useless'],
    [[FRESH, 'Age: 60'], 'useless'],
    [fresh('no-cache'), 'useless'],
  ])('an answer with %j is not stored: %s', (fields, reason) => {
    expect(refused(fields)).toBe(reason);
  });

  test.each([
    [['ETag: "a"']],
    [[`Last-Modified: ${date(-9)}`]],
    [[...fresh('no-cache'), 'ETag: "a"']],
    [['Cache-Control: max-age=0, stale-while-revalidate=9']],
    [['Cache-Control: max-age=0, stale-if-error=9']],
    [[`Expires: ${date(9)}`]],
    [fresh('private="x"')],
    [fresh('no-cache="x"')],
    [['CDN-Cache-Control: max-age=9', 'Cache-Control: no-store']],
    [['Cache-Control: s-maxage=9, max-age=0']],
  ])('an answer with %j is stored', (fields) => {
    expect(refused(fields)).toBeUndefined();
  });

  test('an answer whose only validator is a malformed ETag is not stored', () => {
    expect(refused(['ETag: a'])).toBe('useless');
  });

  test('section 5.2.1.5: an answer is not stored if the request says no-store', () => {
    const rawHeaders = raw('Cache-Control: No-Store');
    expect(refused([FRESH], { rawHeaders })).toBe('request-no-store');
  });

  test('section 5.2.2.7: a private cache stores an answer with private', () => {
    expect(refused(fresh('private'), { rules: PRIVATE })).toBeUndefined();
    expect(refused(['Cache-Control: private', 'ETag: "a"'], { rules: PRIVATE, status: 302 })).toBe(
      undefined,
    );
    expect(refused(['ETag: "a"'], { rules: PRIVATE, status: 302 })).toBe('no-lifetime');
    expect(refused(fresh('no-store'), { rules: PRIVATE })).toBe('no-store');
  });
});

describe('RFC 9110 section 15.1: status codes', () => {
  test.each([200, 203, 204, 299, 301, 302, 307, 308, 400, 404, 410, 499, 500, 503, 599])(
    'an answer %s with a lifetime is stored',
    (status) => {
      expect(refused([FRESH], { status })).toBeUndefined();
    },
  );

  test.each([103, 206, 304, 401, 407, 412, 416, 417, 431])(
    'an answer %s is never stored',
    (status) => {
      expect(refused([FRESH, 'ETag: "a"'], { status })).toBe('status');
    },
  );

  test.each([201, 202, 302, 307, 599, 404, 500])(
    'an answer %s without a lifetime is not stored',
    (status) => {
      expect(refused(['ETag: "a"'], { status })).toBe('no-lifetime');
    },
  );

  test.each([404, 500, 599])(
    'an error %s without a lifetime is not stored, even if it is public',
    (status) => {
      expect(refused(['Cache-Control: public', 'ETag: "a"'], { status })).toBe('no-lifetime');
      expect(refused(['Cache-Control: max-age=0', 'ETag: "a"'], { status })).toBe('no-lifetime');
    },
  );

  test.each([404, 405, 410, 414, 501])(
    'RFC 9111 section 4.2.2: an error %s with Last-Modified is stored only with heuristics',
    (status) => {
      const rules = { ...SHARED, heuristic: true };
      const dated = [`Last-Modified: ${date(-1000)}`];
      expect(refused(dated, { status, rules })).toBeUndefined();
      expect(refused(dated, { status })).toBe('no-lifetime');
      expect(refused(['ETag: "a"'], { status, rules })).toBe('no-lifetime');
      expect(refused([`Last-Modified: ${date(5)}`], { status, rules })).toBe('no-lifetime');
    },
  );

  test.each([400, 403, 500, 503])(
    'an error %s with Last-Modified is not stored, even if it is public',
    (status) => {
      const rules = { ...SHARED, heuristic: true };
      const given = [`Last-Modified: ${date(-1000)}`, 'Cache-Control: public'];
      expect(refused(given, { status, rules })).toBe('no-lifetime');
    },
  );

  test('RFC 9111 section 5.2.2.9: a public 302 without a lifetime is stored', () => {
    expect(refused(['Cache-Control: public', 'ETag: "a"'], { status: 302 })).toBeUndefined();
  });

  test('RFC 9111 section 5.2.2.3: must-understand permits storing only known statuses', () => {
    expect(refused(fresh('must-understand, no-store'))).toBeUndefined();
    expect(refused(fresh('must-understand'), { status: 599 })).toBe('must-understand');
    expect(refused(fresh('must-understand, no-store'), { status: 299 })).toBe('must-understand');
  });
});

describe('RFC 9111 section 3.5: answers to authenticated requests', () => {
  test.each([[{ guarded: true }], [AUTHORIZED]])(
    'an answer to a request with %j is not stored in a shared cache',
    (over) => {
      expect(refused([FRESH], over)).toBe('authorized');
      expect(refused(['ETag: "a"'], over)).toBe('authorized');
      expect(refused([FRESH], { ...over, rules: PRIVATE })).toBeUndefined();
    },
  );

  test.each(['public', 'must-revalidate', 's-maxage=9'])(
    '%s permits a shared cache to store an answer to an authenticated request',
    (directive) => {
      expect(refused(fresh(directive), { guarded: true })).toBeUndefined();
      expect(refused(fresh(directive), AUTHORIZED)).toBeUndefined();
      const targeted = ['Cache-Control: public', `CDN-Cache-Control: max-age=9`];
      expect(refused(targeted, { guarded: true })).toBe('authorized');
    },
  );

  test.each(['proxy-revalidate', 'immutable', 'private="x"'])(
    '%s does not permit a shared cache to store an answer to an authenticated request',
    (directive) => {
      expect(refused(fresh(directive), { guarded: true })).toBe('authorized');
    },
  );
});

describe('RFC 9111 section 7.3: Set-Cookie', () => {
  const COOKIE = 'Set-Cookie: a=b';

  test.each([
    [[FRESH, COOKIE], {}, 'set-cookie'],
    [[...fresh('public'), COOKIE], {}, undefined],
    [['ETag: "a"', COOKIE], {}, 'set-cookie'],
    [[...fresh('no-cache'), 'ETag: "a"', COOKIE], {}, 'set-cookie'],
    [['Cache-Control: max-age=0', 'ETag: "a"', COOKIE], {}, 'set-cookie'],
    [[...fresh('must-revalidate'), COOKIE], { guarded: true }, 'set-cookie'],
    [[...fresh('public'), COOKIE], { guarded: true }, 'set-cookie'],
    [['Cache-Control: s-maxage=9', COOKIE], { guarded: true }, 'set-cookie'],
    [
      ['Cache-Control: public', `Last-Modified: ${date(-1000)}`, COOKIE],
      { rules: { ...SHARED, heuristic: true } },
      'set-cookie',
    ],
    [['ETag: "a"', COOKIE], { rules: PRIVATE }, undefined],
  ])('an answer with %j to a request with %j: %s', (fields, over, reason) => {
    expect(refused(fields, over)).toBe(reason);
  });
});

describe('RFC 9110 section 9.3.3, RFC 5789 section 2: POST and PATCH', () => {
  test.each(['POST', 'PATCH'])(
    'an answer to %s is stored if its Content-Location is the target',
    (method) => {
      const located = (location: string) => [FRESH, `Content-Location: ${location}`];
      expect(refused(located('/a'), { method })).toBeUndefined();
      expect(refused(located('https://here.example/a'), { method })).toBeUndefined();
      expect(refused(located('/%61'), { method })).toBeUndefined();
      expect(refused(located('/a?x'), { method })).toBe('method');
      expect(refused(located('/b'), { method })).toBe('method');
      expect(refused(located('https://there.example/a'), { method })).toBe('method');
      expect(refused([...located('/a'), 'Content-Location: /b'], { method })).toBe('method');
      expect(refused([FRESH], { method })).toBe('method');
      expect(refused(['ETag: "a"', 'Content-Location: /a'], { method })).toBe('method');
      expect(refused(located('/a'), { method, status: 201 })).toBe('method');
    },
  );
});

describe('RFC 9111 section 3.1: which fields are stored', () => {
  const kept = (fields: readonly string[], over?: Over) => {
    const verdict = storing(fields, over);
    return verdict.store ? verdict.lines.map(([name]) => name) : verdict.reason;
  };

  test('all fields are stored, and Age as it came', () => {
    expect(kept([FRESH, 'Date: x', 'X-Unknown: 1', 'Age: 3', 'Cache-Status: a; hit'])).toEqual([
      'Cache-Control',
      'Date',
      'X-Unknown',
      'Age',
      'Cache-Status',
    ]);
  });

  test('fields that no-cache names are not stored; those that private names only in a private cache', () => {
    const fields = [
      ...fresh('no-cache="A, c"'),
      'Cache-Control: private="b"',
      'a: 1',
      'B: 2',
      'd: 3',
    ];
    expect(kept([...fields, 'Date: x'])).toEqual(['Cache-Control', 'Cache-Control', 'd', 'Date']);
    expect(kept([...fields, 'Date: x'], { rules: PRIVATE })).toContain('B');
  });

  test('RFC 9110 section 6.6.1: an answer without Date gets one', () => {
    expect(storing([FRESH])).toMatchObject({
      lines: [
        ['Cache-Control', 'max-age=60'],
        ['Date', new Date(NOW).toUTCString()],
      ],
    });
  });

  test("section 4.1: the request's values of the fields in Vary are stored", () => {
    const rawHeaders = raw('Foo: 1');
    expect(storing([FRESH, 'Vary: Foo, bar'], { rawHeaders })).toMatchObject({
      vary: [
        ['bar', null],
        ['foo', '1'],
      ],
    });
  });
});
