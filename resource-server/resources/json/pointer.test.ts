import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest } from '#shared/http/fields.ts';
import { json } from './json.fixture.ts';
import { MAX_DEPTH } from './parse.ts';
import { child, parsePointer } from './pointer.ts';

const DOCUMENT = json(
  '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}',
);

function at(text: string) {
  return parsePointer(text).reduce(child, DOCUMENT);
}

test.each([
  ['', DOCUMENT],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
])('RFC 6901 section 5: the pointer %j finds its value', (text, value) =>
  expect(at(text)).toStrictEqual(value),
);

test.each(['foo', '#/foo', ' /foo', '/a~', '/a~2b', '/~', '/foo/~~0'])(
  'RFC 6901 section 3: %j is no pointer',
  (text) => expect(() => parsePointer(text)).toThrow(BadRequest),
);

test.each([
  '/foo/-',
  '/foo/00',
  '/foo/01',
  '/foo/+1',
  '/foo/-1',
  '/foo/1.0',
  '/foo/1e0',
  '/foo/0x1',
  '/foo/ 1',
  '/foo/1 ',
  '/foo/',
  '/foo/٠',
  '/foo/2',
  `/foo/${'9'.repeat(400)}`,
  '/foo/length',
  '/foo/0/0',
  '/foo/0/length',
  '/foo/__proto__',
  '/foo/constructor',
  '/__proto__',
  '/constructor/prototype',
  '/size',
  '/get',
])('RFC 6901 section 4: the pointer %j finds nothing', (text) => expect(at(text)).toBeUndefined());

test('RFC 6901 section 3: a pointer deeper than the deepest value is 422, whatever its length', () => {
  expect(parsePointer('/a'.repeat(MAX_DEPTH))).toHaveLength(MAX_DEPTH);
  for (const tokens of [MAX_DEPTH + 1, 1_000_000]) {
    expect(() => parsePointer('/'.repeat(tokens))).toThrow(
      expect.objectContaining({ status: 422 }),
    );
  }
});

test('RFC 6901 section 4: any token keeps its value, since ~1 is unescaped before ~0', () => {
  const escape = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1');
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a') })),
      (tokens) => {
        expect(parsePointer(tokens.map((token) => `/${escape(token)}`).join(''))).toStrictEqual(
          tokens,
        );
      },
    ),
  );
});

test('RFC 6901 section 3: any text is a pointer or a BadRequest', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        at(text);
      } catch (error) {
        expect(error).toBeInstanceOf(BadRequest);
      }
    }),
  );
});
