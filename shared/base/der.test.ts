import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { der, elementContent, membersOf, readElements } from './der.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const tags = fc.integer({ min: 0, max: 255 }).filter((tag) => (tag & 0x1f) !== 0x1f);
const contents = fc.uint8Array({ maxLength: 65_535, size: 'large' }).map((all) => Buffer.from(all));
const element = fc.record({ tag: tags, content: contents });

describe('X.690 section 8.1', () => {
  test('written DER is read again', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 4 }), (elements) => {
        const written = Buffer.concat(elements.map(({ tag, content }) => der(tag, content)));
        expect(readElements(written)).toEqual(elements);
      }),
      { numRuns: 50 },
    );
  });

  test('truncated DER is not read', () => {
    fc.assert(
      fc.property(element, fc.nat(), ({ tag, content }, cut) => {
        const written = der(tag, content);
        const short = written.subarray(0, 1 + (cut % (written.length - 1)));
        expect(readElements(short)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  test('any bytes are read or refused, and elements that are read fit into the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (any) => {
        const read = readElements(Buffer.from(any)) ?? [];
        const size = read.reduce((sum, { content }) => sum + content.length + 2, 0);
        expect(size).toBeLessThanOrEqual(any.length);
      }),
    );
  });

  test.each([
    ['an indefinite length', '30800000'],
    ['a length of four bytes', '30840000000100'],
    ['a length of 127 bytes', `30ff${'00'.repeat(127)}`],
    ['a tag of several bytes', '3f010100'],
    ['no length', '30'],
    ['half a length', '308201'],
    ['a byte too few', '30020000'.slice(0, 6)],
    ['a byte behind', '300030'],
  ])('%s is refused', (_what, hex) => {
    expect(readElements(bytes(hex))).toBeUndefined();
  });

  test('a length of three bytes is read', () => {
    const content = Buffer.alloc(70_000, 1);
    expect(readElements(Buffer.concat([bytes('3083011170'), content]))).toEqual([
      { tag: 0x30, content },
    ]);
  });

  test('a length that is longer than necessary is read', () => {
    expect(readElements(bytes('30830000010a'))).toEqual([{ tag: 0x30, content: bytes('0a') }]);
  });
});

describe('elementContent', () => {
  test.each([
    ['another tag', '310100'],
    ['two elements', '300100300100'],
    ['nothing', ''],
  ])('elementContent gives undefined for %s', (_what, hex) => {
    expect(elementContent(bytes(hex), 0x30)).toBeUndefined();
  });
});

describe('membersOf', () => {
  test('membersOf gives the members by tag', () => {
    const read = membersOf(der(0x30, der(0xa0, bytes('01')), der(0xa2, bytes('02'))));
    expect([...(read ?? [])]).toEqual([
      [0xa0, bytes('01')],
      [0xa2, bytes('02')],
    ]);
  });

  test.each([
    ['a member that comes twice', [0xa0, 0xa0]],
    ['members in another order', [0xa2, 0xa0]],
  ])('membersOf gives undefined for %s', (_what, wrong) => {
    expect(membersOf(der(0x30, ...wrong.map((tag) => der(tag))))).toBeUndefined();
  });
});
