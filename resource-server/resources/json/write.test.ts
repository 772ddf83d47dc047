import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { json } from './json.fixture.ts';
import { MAX_DEPTH, MAX_VALUES } from './parse.ts';
import type { Json } from './value.ts';
import { writeJson } from './write.ts';

test("the writer's text equals that of JSON.stringify", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      // JSON.parse sorts names that look like indices, so the expected text goes through it first.
      const expected = JSON.stringify(JSON.parse(text));
      expect(JSON.parse(writeJson(json(text), 1_000_000).toString())).toStrictEqual(
        JSON.parse(expected),
      );
      expect(writeJson(json(expected), 1_000_000).toString()).toBe(expected);
    }),
  );
});

test('the writer allows exactly the maximum of bytes, counted in UTF-8', () => {
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

test('the writer writes as many values as the parser reads, nested values included', () => {
  const value = Array<Json>(MAX_VALUES - 1).fill(0);
  expect(() => writeJson(value, 1_000_000)).not.toThrow();
  expect(() => writeJson([value], 1_000_000)).toThrow(expect.objectContaining({ status: 422 }));
});

test('the writer refuses a value that is too deep for the parser', () => {
  let value: Json = [];
  for (let level = 1; level < MAX_DEPTH; level += 1) value = [value];
  expect(() => writeJson(value, 1000)).not.toThrow();
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(() => writeJson(value, 1_000_000)).toThrow(expect.objectContaining({ status: 422 }));
});
