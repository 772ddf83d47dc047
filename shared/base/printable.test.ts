import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { columns, printable, printableLines } from './printable.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test.each([
  ['\u001b[2J', String.raw`\u001b[2J`],
  ['a\nb\r', String.raw`a\u000ab\u000d`],
  ['\u009b1m', String.raw`\u009b1m`],
  ['\u202eabc', String.raw`\u202eabc`],
  ['\u{e0001}', String.raw`\udb40\udc01`],
  ['\ud800', String.raw`\ud800`],
  ['Zoë 日本', 'Zoë 日本'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('any text becomes printable: no invisible character is left', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(printable(text)).not.toMatch(UNSEEN);
      expect(printableLines(text).replaceAll(/[\t\n]/g, '')).not.toMatch(UNSEEN);
    }),
  );
});

test('JSON that was made printable has the same value', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(JSON.parse(printable(JSON.stringify([text])))).toEqual([text]);
    }),
  );
});

test('columns are as wide as the shown text, and a cell cannot begin a line', () => {
  expect(
    columns([
      ['a\nb', 'x'],
      ['c', 'y'],
    ]),
  ).toEqual([String.raw`a\u000ab  x`, 'c         y']);
});

test('columns of later rows are at least as wide as those of earlier rows', () => {
  const widths: number[] = [];
  expect(
    columns(
      [
        ['a', 'x'],
        ['abc', 'y'],
      ],
      widths,
    ),
  ).toEqual(['a    x', 'abc  y']);
  expect(columns([['b', 'x']], widths)).toEqual(['b    x']);
  expect(columns([['abcd', 'x']], widths)).toEqual(['abcd  x']);
});

test('with a hundred thousand rows each cell is read at most twice', () => {
  let looks = 0;
  const cell = (text: string) => ({
    replace(...args: Parameters<string['replace']>) {
      looks += 1;
      return text.replace(...args);
    },
  });
  const rows = Array.from({ length: 100_000 }, (_, n) => [cell(`${n}`), cell('x')]);
  // The cells count how often they are read, so they are no strings.
  const lines = columns(rows as unknown as string[][]);
  expect(looks).toBe(200_000);
  expect(lines).toHaveLength(100_000);
  expect(lines[7]).toBe('7      x');
});
