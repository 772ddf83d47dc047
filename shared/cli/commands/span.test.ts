import { expect, test } from '@jest/globals';
import { every, span } from './server-status.ts';

test.each([
  [-5, '0 seconds'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [7199, '1 hour'],
  [200_000, '2 days'],
])('%i seconds are written as %s', (seconds, words) => {
  expect(span(seconds)).toBe(words);
});

test.each([
  [86_400, 'every day'],
  [604_800, 'every 7 days'],
  [5400, 'every 90 minutes'],
  [61, 'every 61 seconds'],
])('a period of %i seconds is written as %s', (seconds, words) => {
  expect(every(seconds)).toBe(words);
});
