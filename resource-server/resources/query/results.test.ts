import * as fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import { MAX_RESULT, writeResult } from './results.ts';

describe('a result', () => {
  test('the result of a query is a JSON array (RFC 8259)', () => {
    expect(String(writeResult('application/json', []))).toBe('[]');
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const text = String(writeResult('application/json', values));
        expect(text).toBe(JSON.stringify(values));
      }),
    );
  });

  test('the result of a query can be JSON Lines', () => {
    expect(String(writeResult('application/jsonl', []))).toBe('');
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
        const lines = String(writeResult('application/jsonl', values)).split('\n');
        expect(lines.pop()).toBe('');
        expect(lines).toEqual(values.map((value) => JSON.stringify(value)));
      }),
    );
  });

  test('a result that is too long is 422 before it is complete', () => {
    let made = 0;
    function* endless() {
      for (;;) {
        made += 1;
        yield 'ü'.repeat(1000);
      }
    }
    const write = () => writeResult('application/json', endless());
    expect(write).toThrow(expect.objectContaining({ status: 422 }));
    expect(made).toBeLessThanOrEqual(MAX_RESULT / 2000 + 1);
  });

  test('a result of the maximum length is written', () => {
    const value = 'x'.repeat(MAX_RESULT - 4);
    expect(writeResult('application/json', [value])).toHaveLength(MAX_RESULT);
    expect(() => writeResult('application/json', [`${value}x`])).toThrow(
      expect.objectContaining({ status: 422 }),
    );
  });
});
