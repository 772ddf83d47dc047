import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createChallenges } from './challenges.ts';

const clock = new ManualClock();
const secret = randomBytes(32);
const ours = createChallenges({ secret, clock, random: systemRandom });
const A = 'https://a.example';

test('another process reads the time of a challenge, only for its origin', () => {
  const challenge = ours.issue(A);
  const at = clock.now();
  clock.advance(30);
  const other = createChallenges({ secret, clock, random: systemRandom });
  expect(other.madeAt(challenge, A)).toBe(at);
  for (const origin of ['https://b.example', 'https://a.example:8443', 'http://a.example', '']) {
    expect(other.madeAt(challenge, origin)).toBeUndefined();
  }
});

test('RFC 7486 section 2: a challenge is base64url without padding, with 128 random bits', () => {
  const many = Array.from({ length: 1000 }, () => ours.issue(A));
  expect(new Set(many).size).toBe(1000);
  for (const one of many) expect(one).toMatch(/^[\w-]{51}$/);
  // All challenges were made in the same second, so a time that the random salt did not hide would show.
  for (let at = 0; at < 50; at += 1) {
    expect(new Set(many.map((one) => one[at])).size).toBeGreaterThan(32);
  }
});

test('a changed, shortened or extended challenge is refused', () => {
  const bytes = Buffer.from(ours.issue(A), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(ours.madeAt(changed.toString('base64url'), A)).toBeUndefined();
  }
  const text = bytes.toString('base64url');
  for (let length = 0; length < text.length; length += 1) {
    expect(ours.madeAt(text.slice(0, length), A)).toBeUndefined();
  }
  for (const more of ['=', 'A', '.', '\n', ' '])
    expect(ours.madeAt(text + more, A)).toBeUndefined();
});

test('challenges of another secret, and any other text, are refused', () => {
  const theirs = createChallenges({ secret: randomBytes(32), clock, random: systemRandom });
  expect(ours.madeAt(theirs.issue(A), A)).toBeUndefined();
  fc.assert(fc.property(anyText(), (text) => expect(ours.madeAt(text, A)).toBeUndefined()));
});
