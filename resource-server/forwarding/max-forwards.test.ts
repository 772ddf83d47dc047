import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import { maxForwards } from './max-forwards.ts';

const asked = (method: string, ...values: string[]) =>
  maxForwards({ method, rawHeaders: values.flatMap((value) => ['Max-Forwards', value]) });

describe('RFC 9110 section 7.6.2: Max-Forwards', () => {
  test('Max-Forwards is read as a number for TRACE and OPTIONS', () => {
    expect([asked('TRACE', '0'), asked('OPTIONS', '0010'), asked('TRACE')]).toEqual([
      0,
      10,
      undefined,
    ]);
  });

  test.each(['-1', '+1', '1.5', 'a', '', ' ', '1, 1', '0x1', '99999999999'])(
    'Max-Forwards: %j is malformed',
    (value) => {
      for (const method of ['TRACE', 'OPTIONS']) {
        expect(() => asked(method, value)).toThrow(BadRequest);
      }
      expect(asked('GET', value)).toBeUndefined();
    },
  );

  test('a repeated Max-Forwards is malformed', () => {
    expect(() => asked('TRACE', '1', '1')).toThrow(BadRequest);
  });
});
