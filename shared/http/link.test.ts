import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { linksTo } from './link.ts';

const RECEIPT = 'urn:ietf:params:push:receipt';
const links = (...lines: string[]) =>
  linksTo(
    lines.flatMap((line) => ['Link', line]),
    RECEIPT,
  );

test.each([
  [`<https://push.example/r/1>; rel="${RECEIPT}"`, ['https://push.example/r/1']],
  [`</r/1>;rel=${RECEIPT}`, ['/r/1']],
  [`</r/1> ; title="a, b; rel=\\"x\\"" ; REL="${RECEIPT.toUpperCase()}"`, ['/r/1']],
  [`</a>; rel=next, </r/1>; rel="start ${RECEIPT}",</r/2>; rel="${RECEIPT}"`, ['/r/1', '/r/2']],
  [`</a,b>; rel="${RECEIPT}"`, ['/a,b']],
  [`</a>; rel=next; rel="${RECEIPT}"`, []],
  [`</a>; rev="${RECEIPT}"`, []],
  ['</a>', []],
  [`</a; rel="${RECEIPT}"`, []],
  [`</a>; rel="${RECEIPT}`, []],
  ['', []],
])('RFC 8288 section 3: %s', (line, found) => {
  expect(links(line)).toEqual(found);
});

test('several lines of Link are one list', () => {
  expect(links(`</a>; rel="${RECEIPT}"`, `</b>; rel="${RECEIPT}"`)).toEqual(['/a', '/b']);
});

test('any value is parsed in time, without an exception', () => {
  const text = fc.string({ unit: fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel') });
  fc.assert(fc.property(text, (line) => Array.isArray(links(line))));
  expect(links(`<a>${';a'.repeat(8000)}`)).toEqual([]);
  expect(links(`<a>; rel="${'\\a'.repeat(8000)}`)).toEqual([]);
});
