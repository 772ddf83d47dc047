import { describe, expect, test } from '@jest/globals';
import { NOW, sampleView } from './samples.fixture.ts';
import { moment, relative } from './times.ts';

describe('moment', () => {
  test.each([
    ['en', '2 minutes ago', '9 March 2026 at 07:03 UTC'],
    ['de', 'vor 2 Minuten', '9. März 2026 um 07:03 UTC'],
  ] as const)(
    'in the language %s a moment has the time since then, and the exact time in UTC',
    (language, ago, exact) => {
      const written = String(moment(NOW - 120_000, sampleView(language)));
      expect(written.replaceAll(/\s+/g, ' ')).toBe(
        `${ago}, <time datetime="2026-03-09T07:03:00.000Z" data-shown="long">${exact}</time>`,
      );
    },
  );
});

describe('relative', () => {
  test.each([
    [0, 'now'],
    [-0.4, 'now'],
    [-1, '1 second ago'],
    [-59.9, '59 seconds ago'],
    [-60, '1 minute ago'],
    [-3599, '59 minutes ago'],
    [-7200, '2 hours ago'],
    [-86_400 * 29, '29 days ago'],
    [-86_400 * 40, '1 month ago'],
    [-31_536_000 * 2, '2 years ago'],
    [0.2, 'in 1 second'],
    [61, 'in 2 minutes'],
  ])('%d seconds from now is %s', (seconds, words) => {
    expect(relative(seconds, 'en')).toBe(words);
  });
});
