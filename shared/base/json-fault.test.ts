import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { jsonFault } from './json-fault.ts';

test.each([
  ['', 'line 1, column 1'],
  ['{', 'line 1, column 2'],
  ['{\n  "a": x\n}', 'line 2, column 8'],
  ['{\r\n"a": 1\r\n"b": 2}', 'line 3, column 1'],
  ['{"a": 1,}', 'line 1, column 9'],
  ['[1, 2,]', 'line 1, column 7'],
  ['[1 2]', 'line 1, column 4'],
  ['[01]', 'line 1, column 3'],
  ['[}', 'line 1, column 2'],
  ['{} {}', 'line 1, column 4'],
  ['["a\tb"]', 'line 1, column 2'],
  ['\ufeff{}', 'line 1, column 1'],
  [`${'['.repeat(100_000)}x`, 'line 1, column 100001'],
  [`["${String.raw`\n`.repeat(1_000_000)}" "`, 'line 1, column 2000005'],
])('jsonFault gives the place of the first fault: %.20s', (text, place) => {
  expect(jsonFault(text)).toBe(place);
});

test('RFC 8259: JSON has no fault, and any text that JSON.parse refuses has one', () => {
  const cut = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.constantFrom('', ',', '"', '}', ' ', '0', '\\'))
    .map(([text, n, length, put]) => {
      const at = n % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + length);
    });
  fc.assert(
    fc.property(fc.oneof(fc.json(), cut, fc.string()), (text) => {
      expect(jsonFault(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 1000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
