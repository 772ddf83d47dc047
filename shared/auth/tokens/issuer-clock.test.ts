import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { issuerClock } from './issuer-clock.ts';

/** Watches an issuer whose clock differs from ours; `ask` gets an answer of the issuer. */
function watched(skew = 5) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = {
    warn: (event: string, { reason = '' } = {}) => void lines.push(`${event}: ${reason}`),
  };
  const watch = issuerClock({ issuer: 'https://auth.example', clock, skew, log });
  /** `takes`: seconds until the answer is made, and from then until it arrives. */
  function ask(ahead: number, { takes = [0, 0], age }: { takes?: number[]; age?: string } = {}) {
    const heard = watch.hear();
    clock.advance(takes[0] ?? 0);
    const date = new Date(clock.now() + ahead * 1000).toUTCString();
    clock.advance(takes[1] ?? 0);
    heard({ date, age });
    return watch.difference();
  }
  return { clock, lines, watch, ask };
}

test.each([
  [3600, 'ahead of'],
  [-3600, 'behind'],
  [8, 'ahead of'],
  [-8, 'behind'],
])(
  'a clock that is off by %d s is logged once, and so is its agreement afterwards',
  (ahead, way) => {
    const { ask, lines } = watched();
    const seconds = Math.abs(ahead);
    for (let time = 0; time < 3; time += 1) {
      expect(Math.abs((ask(ahead) ?? 0) - seconds)).toBeLessThanOrEqual(1);
    }
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^clock\\.differs: the clock of https://auth\\.example, .* is \\d+ s ${way} ours, and 5 s are accepted`,
        ),
      ),
    ]);
    lines.length = 0;
    expect([ask(0), ask(0)]).toEqual([0, 0]);
    expect(lines).toEqual([
      'clock.agrees: the clock of https://auth.example agrees with ours again',
    ]);
  },
);

test('the next answer shows that a clock was set while the servers run, whichever clock it was', () => {
  const { ask, clock, lines } = watched();
  ask(0);
  clock.set(-3600);
  ask(3600);
  expect(lines).toEqual([expect.stringContaining('3600 s ahead of ours')]);
  clock.set(3600);
  ask(0);
  expect(lines).toHaveLength(2);
});

test('RFC 9110 section 5.6.7: Date has whole seconds, so a difference within the skew is not logged at any fraction of a second', () => {
  for (const skew of [0, 1, 5, 60]) {
    for (let part = 0; part < 1; part += 0.125) {
      const { ask, clock, lines } = watched(skew);
      clock.advance(part);
      for (const ahead of [0, skew, -skew]) ask(ahead);
      expect([skew, part, lines]).toEqual([skew, part, []]);
      ask(Math.max(skew, 1) + 1.001);
      expect([skew, part, lines.length]).toEqual([skew, part, 1]);
    }
  }
});

test('a slow answer, such as a poll for revocations, shows no difference, since it may have been made at any time in between', () => {
  const { ask, lines } = watched();
  ask(0, { takes: [25, 0] });
  ask(0, { takes: [0, 25] });
  ask(5, { takes: [12, 13] });
  expect(lines).toEqual([]);
  expect(ask(3600, { takes: [12, 13] })).toBeGreaterThan(3580);
  expect(lines).toHaveLength(1);
});

test('RFC 9111 section 5.1: an answer with Age comes from a cache, so its Date is ignored', () => {
  const { ask, lines, watch } = watched();
  expect([ask(-3600, { age: '3600' }), ask(-3600, { age: '0' })]).toEqual([undefined, undefined]);
  ask(3600);
  ask(0, { age: '1' });
  expect([lines.length, watch.difference()]).toEqual([1, 3600]);
});

test.each([undefined, '', 'now', 'Thu, 26 Nov 2026 99:00:00 GMT', '0, 0'])(
  'a Date of %j is ignored',
  (date) => {
    const { lines, watch } = watched();
    watch.hear()({ date });
    expect([lines, watch.difference()]).toEqual([[], undefined]);
  },
);

test('an answer during which our clock is set shows no difference', () => {
  const { clock, lines, watch } = watched();
  const heard = watch.hear();
  const date = new Date(clock.now()).toUTCString();
  clock.set(3600);
  heard({ date });
  expect(lines).toEqual([]);
});
