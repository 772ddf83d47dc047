import { describe, expect, test } from '@jest/globals';
import { ageOf, policyOf } from './freshness.ts';
import { date, NOW, PRIVATE, SHARED, stored } from './rules.fixture.ts';

const policy = (fields: readonly string[], rules = SHARED, over = {}) =>
  policyOf(stored(fields, over), rules);
const lifetime = (...fields: string[]) => {
  const { lifetime: seconds, explicit } = policy(fields);
  return explicit ? seconds : undefined;
};
const age = (...fields: string[]) => ageOf(policy(fields), NOW);

describe('RFC 9111 section 4.2.1: freshness lifetime', () => {
  test.each([
    [['Cache-Control: max-age=5'], 5],
    [['Cache-Control: s-maxage=7, max-age=5'], 7],
    [['Cache-Control: max-age=5', 'Cache-Control: s-maxage=7'], 7],
    [['Cache-Control: max-age=5', `Expires: ${date(9)}`, `Date: ${date(0)}`], 5],
    [['Cache-Control: max-age=5', 'Expires: 0'], 5],
    [[`Expires: ${date(9)}`, `Date: ${date(0)}`], 9],
    [[`Expires: ${date(300)}`, `Date: ${date(400)}`], 0],
    [[`Expires: ${date(9)}`], 9],
    [[`Expires: ${date(9)}`, 'Date: foo'], 9],
    [[`Expires: ${date(9)}`, 'CDN-Cache-Control: none'], undefined],
    [['CDN-Cache-Control: max-age=3', 'Cache-Control: s-maxage=7'], 3],
    [[], undefined],
  ])('the freshness lifetime by %j is %s', (fields, seconds) => {
    expect(lifetime(...fields)).toBe(seconds);
  });

  test('a private cache ignores s-maxage', () => {
    expect(policy(['Cache-Control: s-maxage=7, max-age=5'], PRIVATE).lifetime).toBe(5);
  });
});

describe('RFC 9111 section 5.3: Expires', () => {
  test.each([
    '0',
    '-1',
    '',
    'tomorrow',
    'Thu, 18 Aug 2050 02:01:18 UTC',
    'Thu, 18 Aug 2050 02:01:18 AEST',
    'Thu, 18 Aug 50 02:01:18 GMT',
    'Thu 18 Aug 2050 02:01:18 GMT',
    'Thu, 18-Aug-2050 02:01:18 GMT',
    'Thu, 18 Aug 2050 02.01.18 GMT',
    'Thu, 18 Aug 2050 2:01:18 GMT',
    'Thu, 31 Feb 2050 02:01:18 GMT',
  ])('Expires: %j is malformed, so the answer is expired', (value) => {
    expect(lifetime(`Expires: ${value}`, `Date: ${date(0)}`)).toBe(0);
  });

  test.each([
    'Thu, 18 Aug 2050 02:01:18 GMT',
    'THU, 18 aug 2050 02:01:18 gmt',
    'Thursday, 18-Aug-50 02:01:18 GMT',
    'Thu Aug 18 02:01:18 2050',
  ])('section 4.2: %s is a valid date, whose case does not matter', (value) => {
    expect(lifetime(`Expires: ${value}`)).toBe((Date.UTC(2050, 7, 18, 2, 1, 18) - NOW) / 1000);
  });

  test('section 4.2.1: two different values of Expires make the answer expired', () => {
    expect(lifetime(`Expires: ${date(9)}`, `Expires: ${date(8)}`)).toBe(0);
    expect(lifetime(`Expires: ${date(9)}`, `Expires: ${date(9)}`)).toBe(9);
  });
});

describe('RFC 9111 section 4.2.2: heuristics', () => {
  const HEURISTIC = { ...SHARED, heuristic: true };
  const fields = [`Last-Modified: ${date(-1000)}`, `Date: ${date(0)}`];

  test.each([
    [fields, 200, 100],
    [fields, 301, 100],
    [fields, 302, 0],
    ...[404, 405, 410, 414, 501].map((status) => [fields, status, 100] as const),
    [fields, 500, 0],
    [[...fields, 'Cache-Control: public'], 302, 100],
    [[`Last-Modified: ${date(-1e8)}`, `Date: ${date(0)}`], 200, 86_400],
    [[`Last-Modified: ${date(5)}`, `Date: ${date(0)}`], 200, 0],
    [[], 200, 0],
  ])('the heuristic lifetime of %j with status %s is %s', (given, status, seconds) => {
    expect(policy(given, HEURISTIC, { status })).toMatchObject({
      lifetime: seconds,
      explicit: false,
    });
  });

  test('no heuristic lifetime applies by default, or beside an explicit lifetime', () => {
    expect(policy(fields).lifetime).toBe(0);
    expect(policy([...fields, 'Cache-Control: max-age=0'], HEURISTIC).lifetime).toBe(0);
    expect(policy([...fields, 'CDN-Cache-Control: max-age=0'], HEURISTIC).lifetime).toBe(0);
  });
});

describe('RFC 9111 section 4.2.3: age', () => {
  test.each([
    [['Age: 30'], 30],
    [[`Date: ${date(-20)}`], 20],
    [[`Date: ${date(-20)}`, 'Age: 30'], 30],
    [[`Date: ${date(-40)}`, 'Age: 30'], 40],
    [[`Date: ${date(20)}`], 0],
    [[`Date: ${date(20)}`, 'Age: 30'], 30],
  ])('the age by %j is %s', (fields, seconds) => {
    expect(age(...fields)).toBe(seconds);
  });

  test('section 5.1: of several values of Age the first applies', () => {
    expect(age('Age: 7200, 0')).toBe(7200);
    expect(age('Age: 0,7200')).toBe(0);
    expect(age('Age: 7200', 'Age: 0')).toBe(7200);
  });

  test.each(['abc', '-7200', '7200.0', '7200;foo=bar', '"7200"', '', 'x, 7200'])(
    'section 5.1: Age: %j is invalid, and is ignored',
    (value) => {
      expect(age(`Age: ${value}`)).toBe(0);
    },
  );

  test('the age grows from the time of the request', () => {
    const given = policy(['Age: 30'], SHARED, { requested: NOW - 4000 });
    expect([ageOf(given, NOW), ageOf(given, NOW + 5999)]).toEqual([34, 39]);
  });

  test('a clock that is set back does not reduce the age', () => {
    expect(ageOf(policy(['Age: 30']), NOW - 60_000)).toBe(30);
  });
});

describe('RFC 9111 section 4.2.4: answers that are never used stale', () => {
  test.each([
    ['must-revalidate', true, true],
    ['proxy-revalidate', true, false],
    ['s-maxage=1', true, false],
    ['no-cache', true, true],
    ['no-cache="a"', false, false],
    ['max-age=1', false, false],
  ])(
    '%s forbids stale use: %s in a shared cache, %s in a private one',
    (directive, shared, own) => {
      const fields = [`Cache-Control: ${directive}`];
      expect(policy(fields).neverStale).toBe(shared);
      expect(policy(fields, PRIVATE).neverStale).toBe(own);
    },
  );
});
