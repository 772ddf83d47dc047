import { expect, test } from '@jest/globals';
import { UsageError } from './command.ts';
import { wholeNumber } from './whole-number.ts';

const given = (text: string | undefined) => ({
  operands: [],
  flag: () => false,
  texts: () => [],
  text: () => text,
});

test.each([
  ['5', 5],
  ['10', 10],
  ['007', 7],
  [undefined, undefined],
])('%j is accepted', (text, value) => expect(wholeNumber(given(text), 'days', 5, 10)).toBe(value));

test.each([
  '4',
  '11',
  '-5',
  '+5',
  '5.5',
  '5e0',
  '0x5',
  '',
  ' 5',
  '5\n',
  '٥',
  'NaN',
  '9'.repeat(400),
])('%j is refused, and the message names the allowed values', (text) => {
  const reading = () => wholeNumber(given(text), 'days', 5, 10);
  expect(reading).toThrow(UsageError);
  expect(reading).toThrow('--days must be a whole number from 5 to 10');
});
