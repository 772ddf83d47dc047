import { expect, test } from '@jest/globals';
import { subjectFaults } from './commit-subjects.ts';

test.each([
  'Refuse a token of another epoch',
  'Process a form once',
  `Add ${'x'.repeat(68)}`,
  'Re-read the feed after a failover',
])('accepts the subject %s', (subject) => {
  expect(subjectFaults(subject)).toEqual([]);
});

test.each([
  'Refuses a token',
  'Refused a token',
  'Refusing a token',
  'refuse a token',
  'A token is refused',
  'Refuse a token.',
  `Add ${'x'.repeat(69)}`,
])('refuses the subject %s', (subject) => {
  expect(subjectFaults(subject)).toHaveLength(1);
});
