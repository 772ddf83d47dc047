import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { challengeDigest, parseChallenge } from '#shared/private-token/token-challenge.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { createChallenges, type ChallengedSpace } from './challenges.ts';

const ISSUER = 'issuer.example:8443';
const SECRET = Buffer.alloc(32, 1);
const NOW = 1_800_000_000_000;
const at = (now: number, memory = 'memory') => ({ now, memory });
const OWN_SPACE: ChallengedSpace = {
  url: 'https://rs.example/a/',
  types: [BLIND_RSA],
  origins: [],
};

const of = (space: Partial<ChallengedSpace>, issuer = ISSUER, secret = SECRET) =>
  createChallenges({ ...OWN_SPACE, ...space }, issuer, secret);
const digestOf = (space: Partial<ChallengedSpace>, issuer = ISSUER, secret = SECRET) =>
  of(space, issuer, secret).offered(BLIND_RSA, at(NOW)).digest.toString('hex');

describe('RFC 9577 section 2.1.1: the challenges of a space', () => {
  test("without a window a challenge has no context, the space's own name in origin_info, and no end", () => {
    const challenges = of({});
    const offered = challenges.offered(VOPRF, at(NOW));
    expect(parseChallenge(offered.bytes)).toEqual({
      type: VOPRF,
      issuer: ISSUER,
      context: Buffer.alloc(0),
      origins: ['rs.example'],
    });
    expect(offered.digest).toEqual(challengeDigest(offered.bytes));
    expect(offered.ends).toBe(Infinity);
    expect(challenges.accepted(VOPRF, at(NOW))).toEqual([offered]);
    expect(challenges.offered(VOPRF, at(NOW + 1e12))).toEqual(offered);
  });

  test.each([
    ['https://rs.example:3443/a/', 'rs.example:3443'],
    ['https://rs.example:443/a/', 'rs.example'],
    ['http://localhost/a/', 'localhost:80'],
    ['https://[::1]:8/a/', '[::1]:8'],
  ])('section 2.1.1.1: the server name of %s is %s', (url, name) => {
    const { bytes } = of({ url }).offered(BLIND_RSA, at(NOW));
    expect(parseChallenge(bytes)?.origins).toEqual([name]);
  });

  test('section 5.4: origins that name each other ask for the same tokens; other origins do not', () => {
    const other = 'https://other.example/b/';
    const both = digestOf({ origins: ['other.example'] });
    expect(digestOf({ url: other, origins: ['rs.example'] })).toBe(both);
    expect(digestOf({ origins: ['other.example', 'rs.example', 'other.example'] })).toBe(both);
    expect(digestOf({})).not.toBe(both);
    expect(digestOf({ url: other })).not.toBe(both);
    expect(digestOf({ url: other })).not.toBe(digestOf({}));
    expect(digestOf({ url: 'https://rs.example/b/' })).toBe(digestOf({}));
  });

  test('section 2.1.1.2: with a window the context has 32 octets that depend on every input', () => {
    const challenges = of({ window: 60 });
    const parsed = parseChallenge(challenges.offered(BLIND_RSA, at(NOW)).bytes);
    expect(parsed?.context).toHaveLength(32);
    expect(parsed?.origins).toEqual(['rs.example']);
    const all = [
      digestOf({ window: 60 }),
      digestOf({ window: 61 }),
      digestOf({ window: 60, url: 'https://rs.example/a/b/' }),
      digestOf({ window: 60, url: 'https://rs.example:3443/a/' }),
      digestOf({ window: 60 }, 'issuer.example'),
      digestOf({ window: 60 }, ISSUER, Buffer.alloc(32, 2)),
      ...challenges.accepted(BLIND_RSA, at(NOW)).map(({ digest }) => digest.toString('hex')),
      ...challenges.accepted(VOPRF, at(NOW)).map(({ digest }) => digest.toString('hex')),
    ];
    expect(new Set(all).size).toBe(all.length - 1); // the first is among the accepted ones
  });

  test('a window of another length has other contexts, even if its number is the same', () => {
    const seventh = (window: number) =>
      of({ window })
        .offered(BLIND_RSA, at(7 * window * 1000))
        .digest.toString('hex');
    expect(seventh(60)).not.toBe(seventh(120));
  });

  test('section 2.1.1.2: after the store has lost its memory, all windows have other contexts', () => {
    const space = of({ window: 60 });
    const [before, after] = ['one', 'other'].map((memory) =>
      space.accepted(BLIND_RSA, at(NOW, memory)).map(({ digest }) => digest.toString('hex')),
    );
    expect(new Set([...(before ?? []), ...(after ?? [])]).size).toBe(6);
    const without = of({});
    expect(without.offered(BLIND_RSA, at(NOW, 'other'))).toEqual(
      without.offered(BLIND_RSA, at(NOW, 'one')),
    );
  });

  test('two processes make the same challenge at any time of a window', () => {
    const [one, other] = [of({ window: 60 }), of({ window: 60 })];
    const start = Math.floor(NOW / 60_000) * 60_000;
    const first = one.offered(BLIND_RSA, at(start));
    expect(other.offered(BLIND_RSA, at(start + 59_999))).toEqual(first);
    expect(other.offered(BLIND_RSA, at(start + 60_000))).not.toEqual(first);
    expect(first.ends).toBe(start + 120_000);
  });

  test('tokens of a challenge are accepted from one window before it until its end, to the millisecond', () => {
    const seconds = fc.integer({ min: 10, max: 100_000 });
    const time = fc.integer({ min: NOW - 1e9, max: NOW + 1e9 });
    fc.assert(
      fc.property(seconds, time, (window, now) => {
        const challenges = of({ window });
        const { digest, ends } = challenges.offered(BLIND_RSA, at(now));
        const accepted = (moment: number) =>
          challenges.accepted(BLIND_RSA, at(moment)).some((one) => one.digest.equals(digest));
        expect(ends - now).toBeGreaterThan(window * 1000);
        expect(ends - now).toBeLessThanOrEqual(2 * window * 1000);
        const begins = ends - 3 * window * 1000;
        expect([begins - 1, begins, now, ends - 1, ends].map(accepted)).toEqual([
          false,
          true,
          true,
          true,
          false,
        ]);
        for (const one of challenges.accepted(BLIND_RSA, at(now))) {
          expect(one.ends).toBeGreaterThan(now);
        }
      }),
    );
  });
});
