import { describe, expect, test } from '@jest/globals';
import { demandsOf, isForOrigin } from './demands.ts';
import { policyOf } from './freshness.ts';
import { reuseOf } from './reuse.ts';
import { NOW, raw, SHARED, stored } from './rules.fixture.ts';

/**
 * Decides about an answer with the Cache-Control `control`, after `seconds`, for a request with the directives
 * `demands`.
 */
const reuse = (control: string, seconds: number, demands?: string, over = {}) => {
  const answer = stored([`Cache-Control: ${control}`], over);
  const fields = demands === undefined ? [] : [`Cache-Control: ${demands}`];
  const policy = policyOf(answer, SHARED);
  return reuseOf(answer, policy, demandsOf(raw(...fields)), NOW + seconds * 1000);
};

describe('RFC 9111 section 4.2: fresh while the lifetime is more than the age', () => {
  test.each([
    [9, { kind: 'fresh', age: 9, ttl: 1 }],
    [10, { kind: 'validate', age: 10, ttl: 0, reason: 'stale', onError: 0, disconnected: true }],
    [15, { kind: 'validate', age: 15, ttl: -5, reason: 'stale', onError: 0, disconnected: true }],
  ])('an answer with max-age=10 after %s seconds', (seconds, expected) => {
    expect(reuse('max-age=10', seconds)).toEqual(expected);
  });

  test.each([
    ['max-age=10', 15, undefined, true],
    ['max-age=10', 86_409, undefined, true],
    ['max-age=10', 86_410, undefined, false],
    ['max-age=10, must-revalidate', 15, undefined, false],
    ['max-age=10, proxy-revalidate', 15, undefined, false],
    ['s-maxage=10', 15, undefined, false],
    ['max-age=10, no-cache', 5, undefined, false],
    ['max-age=10', 15, 'no-cache', false],
    ['max-age=10', 15, 'max-age=60', false],
    ['max-age=10', 15, 'min-fresh=1', false],
  ])(
    'section 4.2.4: without an answer of the application, an answer with %s after %s seconds may replace it for %s: %s',
    (control, seconds, demands, used) => {
      expect(reuse(control, seconds, demands)).toMatchObject({ disconnected: used });
    },
  );

  test('section 5.2.2.4: an answer with no-cache is validated however fresh it is', () => {
    expect(reuse('max-age=10, no-cache', 0)).toMatchObject({ kind: 'validate', reason: 'stale' });
  });

  test.each([-0.001, -3600])(
    'section 4.2.3: an answer that arrived %s s in the future, after the clock was set back, is validated',
    (seconds) => {
      const control = 'max-age=10, stale-while-revalidate=60';
      const expected = { kind: 'validate', reason: 'stale', age: 0, disconnected: false };
      expect(reuse(control, seconds)).toMatchObject(expected);
      expect(reuse(control, seconds, 'max-stale')).toMatchObject(expected);
    },
  );

  test('no-cache about fields does not require a validation', () => {
    expect(reuse('max-age=10, no-cache="a"', 0)).toMatchObject({ kind: 'fresh' });
  });

  test('an outdated answer is validated', () => {
    const outdated = { outdated: true };
    expect(reuse('max-age=10, stale-while-revalidate=60', 0, undefined, outdated)).toMatchObject({
      kind: 'validate',
      reason: 'stale',
    });
    expect(reuse('max-age=10', 0, 'max-stale', outdated)).toMatchObject({ kind: 'validate' });
  });
});

describe('RFC 9111 section 5.2.1: directives of the request', () => {
  test.each([
    ['max-age=0', 0, 'validate'],
    ['max-age=4', 5, 'validate'],
    ['max-age=5', 5, 'fresh'],
    ['min-fresh=5', 5, 'fresh'],
    ['min-fresh=6', 5, 'validate'],
    ['no-cache', 0, 'validate'],
    ['no-store', 0, 'fresh'],
    ['only-if-cached', 0, 'fresh'],
    ['max-age=x', 0, 'validate'],
  ])(
    'a request with %s gets an answer of %s seconds with max-age=10: %s',
    (demands, seconds, kind) => {
      expect(reuse('max-age=10', seconds, demands)).toMatchObject(
        kind === 'validate' ? { kind, reason: 'request' } : { kind },
      );
    },
  );

  test.each([
    ['max-stale', 1000, 'stale'],
    ['max-stale=5', 15, 'stale'],
    ['max-stale=5', 16, 'validate'],
    ['max-stale=x', 11, 'validate'],
    ['max-stale, no-cache', 11, 'validate'],
    ['max-stale, min-fresh=1', 11, 'validate'],
    ['max-stale, max-age=5', 11, 'validate'],
  ])(
    'section 5.2.1.2: a request with %s gets an answer of %s seconds with max-age=10: %s',
    (demands, seconds, kind) => {
      expect(reuse('max-age=10', seconds, demands)).toMatchObject({ kind });
    },
  );

  test('section 5.2.1.7: only-if-cached never asks the application', () => {
    const none = { kind: 'none', reason: 'only-if-cached' };
    expect(reuse('max-age=10', 10, 'only-if-cached')).toEqual(none);
    expect(reuse('max-age=10', 5, 'only-if-cached, no-cache')).toEqual(none);
    expect(reuse('max-age=10', 15, 'only-if-cached, max-stale')).toMatchObject({ kind: 'stale' });
  });

  test.each(['must-revalidate', 'proxy-revalidate', 's-maxage=10'])(
    'section 4.2.4: max-stale does not allow stale use against %s',
    (directive) => {
      expect(reuse(`max-age=10, ${directive}`, 11, 'max-stale')).toMatchObject({
        kind: 'validate',
      });
    },
  );

  test('section 5.4: Pragma applies only without Cache-Control', () => {
    expect(demandsOf(raw('Pragma: No-Cache'))?.flags.has('no-cache')).toBe(true);
    expect(demandsOf(raw('Pragma: no-cache', 'Cache-Control: a'))?.flags.has('no-cache')).toBe(
      false,
    );
    expect(demandsOf(raw('Pragma: x'))).toBeUndefined();
    expect(demandsOf(raw('Accept: */*'))).toBeUndefined();
  });

  test.each(['If-Match', 'If-Unmodified-Since'])(
    'section 4.3.2: a request with %s goes to the application',
    (name) => {
      expect(isForOrigin(raw(`${name}: x`))).toBe(true);
      expect(isForOrigin(raw('If-None-Match: "a"'))).toBe(false);
    },
  );
});

describe('RFC 5861 section 3: stale-while-revalidate', () => {
  const control = 'max-age=10, stale-while-revalidate=5';

  test.each([
    [control, 14, undefined, { kind: 'stale', age: 14, ttl: -4, refresh: true }],
    [control, 15, undefined, { kind: 'validate' }],
    [control, 14, 'max-age=60', { kind: 'validate' }],
    [control, 14, 'max-age=60, max-stale=60', { kind: 'stale', refresh: true }],
    [control, 20, 'max-stale=60', { kind: 'stale', refresh: false }],
    [`${control}, must-revalidate`, 14, undefined, { kind: 'validate' }],
    [`${control}, no-cache`, 1, undefined, { kind: 'validate' }],
  ])(
    'an answer with %s after %s seconds, for a request with %s',
    (given, seconds, demands, expected) => {
      expect(reuse(given, seconds, demands)).toMatchObject(expected);
    },
  );
});

describe('RFC 5861 section 4: stale-if-error', () => {
  test.each([
    ['max-age=10, stale-if-error=60', 10, undefined, 60],
    ['max-age=10, stale-if-error=60', 40, undefined, 30],
    ['max-age=10, stale-if-error=60', 90, undefined, 0],
    ['max-age=10, stale-if-error=60', 5, 'no-cache', 60],
    ['max-age=10', 40, 'stale-if-error=60', 30],
    ['max-age=10, stale-if-error=60, must-revalidate', 40, undefined, 0],
    ['max-age=10, stale-if-error=60, no-cache', 1, undefined, 0],
    ['max-age=10, stale-if-error=60, s-maxage=10', 40, 'stale-if-error=90', 0],
  ])(
    'an answer with %s after %s seconds, for a request with %s, may replace an error for %s more seconds',
    (given, seconds, demands, onError) => {
      expect(reuse(given, seconds, demands)).toMatchObject({ kind: 'validate', onError });
    },
  );
});
