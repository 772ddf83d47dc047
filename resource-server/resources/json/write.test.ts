import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { json } from './json.fixture.ts';
import { MAX_DEPTH, MAX_VALUES } from './parse.ts';
import type { Json } from './value.ts';
import { writeJson } from './write.ts';

test('the text equals that of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      // Through JSON.parse first: it sorts names that look like indices.
      const expected = JSON.stringify(JSON.parse(text));
      expect(JSON.parse(writeJson(json(text), 1_000_000).toString())).toStrictEqual(
        JSON.parse(expected),
      );
      expect(writeJson(json(expected), 1_000_000).toString()).toBe(expected);
    }),
  );
});

test('allows exactly the maximum of bytes, counted in UTF-8', () => {
  const value = json('{"é":["€",{}],"a":[]}');
  const length = Buffer.byteLength('{"é":["€",{}],"a":[]}');
  expect(writeJson(value, length)).toHaveLength(length);
  expect(() => writeJson(value, length - 1)).toThrow(expect.objectContaining({ status: 413 }));
});

test('a text that is far too long is refused before it is built', () => {
  const string = 'a'.repeat(1_000_000);
  const value: Json = Array<string>(100_000).fill(string);
  expect(() => writeJson(value, 16_000_000)).toThrow(expect.objectContaining({ status: 413 }));
});

test('writes as many values as can be read, nested ones included', () => {
  const value = Array<Json>(MAX_VALUES - 1).fill(0);
  expect(() => writeJson(value, 1_000_000)).not.toThrow();
  expect(() => writeJson([value], 1_000_000)).toThrow(expect.objectContaining({ status: 422 }));
});

test('a value that is too deep to be read is not written', () => {
  let value: Json = [];
  for (let level = 1; level < MAX_DEPTH; level += 1) value = [value];
  expect(() => writeJson(value, 1000)).not.toThrow();
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(() => writeJson(value, 1_000_000)).toThrow(expect.objectContaining({ status: 422 }));
});
