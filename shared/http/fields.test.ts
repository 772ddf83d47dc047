import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest, firstMembers, lines, listMembers, plainMembers, single } from './fields.ts';

const raw = ['Host', 'a', 'X-A', '1', 'x-a', '2', 'X-AB', '3'];

test('RFC 9110 section 5.6.1.2: the members of a list without quotes are read, except empty ones', () => {
  expect(plainMembers(' , a b ,,\tc,d \t,')).toEqual(['a b', 'c', 'd']);
  expect(plainMembers('')).toEqual([]);
});

describe('RFC 9110 section 5.3: the lines of a field', () => {
  test('names of fields are compared without regard to case, and lines keep their order', () => {
    expect(lines(raw, 'x-A')).toEqual(['1', '2']);
    expect(lines(raw, 'x')).toEqual([]);
  });

  test('a value that looks like a name is not read as a name', () => {
    expect(lines(['a', 'host', 'b', 'c'], 'host')).toEqual([]);
  });

  test('single gives undefined, the value, or BadRequest for a repeated field', () => {
    expect(single(raw, 'date')).toBeUndefined();
    expect(single(raw, 'HOST')).toBe('a');
    expect(() => single(raw, 'x-a')).toThrow(BadRequest);
    expect(() => single(['A', '', 'a', ''], 'A')).toThrow(BadRequest);
  });
});

describe('RFC 9110 section 5.6.1: lists', () => {
  test.each([
    ['foo,bar', ['foo', 'bar']],
    ['foo ,bar,', ['foo', 'bar']],
    ['foo , ,bar,charlie', ['foo', 'bar', 'charlie']],
    ['', []],
    [' ,\t, ', []],
    ['  a b\t c  , d', ['a b\t c', 'd']],
    ['a;b="c, d" , "e"', ['a;b="c, d"', '"e"']],
    [String.raw`"a\", b", c`, [String.raw`"a\", b"`, 'c']],
  ])('%j', (value, members) => {
    expect(listMembers([value])).toEqual(members);
  });

  test.each(['"a', 'a, b="', '"a\\"', '"a\0"'])('refuses %j', (value) => {
    expect(() => listMembers([value])).toThrow(BadRequest);
  });

  test('any members joined with commas are read again', () => {
    const member = fc
      .array(fc.constantFrom('a', 'b c', '=', '"d, e"', String.raw`"\""`, '\xe9'), { minLength: 1 })
      .map((parts) => parts.join(''));
    const gap = fc.stringMatching(/^[ \t]*,[ \t,]*$/);
    fc.assert(
      fc.property(fc.array(member), gap, (members, comma) => {
        expect(listMembers([members.join(comma)])).toEqual(members);
      }),
    );
  });

  test('section 5.4: 1,024 members from all lines are read, and one more is refused', () => {
    const many = (length: number) => Array<string>(length).fill('"a,b"').join(',,');
    expect(listMembers([many(1000), many(24), ','])).toHaveLength(1024);
    expect(() => listMembers([many(1000), many(25)])).toThrow('more than 1,024 members');
  });

  test('the first 1,024 members of a list of preferences are read, and the rest is ignored', () => {
    const many = (length: number) => Array.from({ length }, (_, at) => `p${at}`);
    expect(firstMembers([many(1000).join(), many(25).join(), '"'])).toEqual([
      ...many(1000),
      ...many(24),
    ]);
  });

  test('a long run of white space is read in time', () => {
    expect(listMembers([`a${' '.repeat(200_000)}b`])).toHaveLength(1);
  });
});
