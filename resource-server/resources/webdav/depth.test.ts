import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import { depthOf } from './depth.ts';

const depth = (...lines: readonly string[]) =>
  depthOf({ rawHeaders: lines.flatMap((line) => ['Depth', line]) });

describe('RFC 4918 section 10.2: Depth', () => {
  test('Depth has three values, "infinity" in any case', () => {
    expect(['0', '1', 'infinity', 'Infinity'].map((value) => depth(value))).toEqual([
      '0',
      '1',
      'infinity',
      'infinity',
    ]);
    expect(depth()).toBeUndefined();
  });

  test.each(['', '2', '-1', '00', '1,noroot', '0, 0', 'infinite', 'constructor'])(
    'Depth: %j is malformed',
    (value) => {
      expect(() => depth(value)).toThrow(BadRequest);
    },
  );

  test('a repeated Depth is refused', () => {
    expect(() => depth('0', '0')).toThrow(BadRequest);
  });
});
