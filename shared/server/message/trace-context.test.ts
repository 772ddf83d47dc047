import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readTraceContext, traceLines } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const PLAIN = `00-${TRACE}-${PARENT}-01`;
const random = (bytes: number) => Buffer.alloc(bytes, 0xab);
const onward = (traceparent: string, tracestate?: string) => {
  const context = readTraceContext({
    traceparent,
    ...(tracestate !== undefined && { tracestate }),
  });
  return context && traceLines(context, random);
};

test('section 4.2: the trace is passed on with a parent-id of this server', () => {
  expect(onward(PLAIN, 'congo=t61rcWkgMzE')).toEqual([
    ['traceparent', `00-${TRACE}-abababababababab-01`],
    ['tracestate', 'congo=t61rcWkgMzE'],
  ]);
});

test.each([
  ['nothing', ''],
  ['version ff', `ff-${TRACE}-${PARENT}-01`],
  ['an all-zero trace-id', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['an all-zero parent-id', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', PLAIN.toUpperCase()],
  ['one digit in upper case', PLAIN.replace('b', 'B')],
  ['a short trace-id', PLAIN.replace('4bf', '4b')],
  ['a long parent-id', PLAIN.replace('-00f', '-000f')],
  ['more than version 00 has', `${PLAIN}-extra`],
  ['a comma at its end', `${PLAIN},`],
  ['two values, as two fields arrive', `${PLAIN}, ${PLAIN}`],
  ['white space', ` ${PLAIN}`],
  ['a line break', `${PLAIN}\n`],
  ['a character that is no digit', PLAIN.replace('4bf', '4bg')],
  ['a version of one digit', PLAIN.slice(1)],
  ['later versions with more, without a hyphen', `cc-${TRACE}-${PARENT}-01.what`],
])('section 3.2: %s is not accepted as a traceparent', (_what, traceparent) => {
  expect(onward(traceparent, 'a=b')).toBeUndefined();
});

test('section 3.2.2.1: a later version is read like version 00, and passed on as version 00', () => {
  for (const more of ['', '-', '-what-comes-later']) {
    expect(onward(`cc-${TRACE}-${PARENT}-01${more}`)).toEqual([
      ['traceparent', `00-${TRACE}-abababababababab-01`],
    ]);
  }
});

test.each([
  ['00', '00'],
  ['01', '01'],
  ['03', '03'],
  ['ff', '03'],
  ['08', '00'],
])('section 3.2.2.5: the flags %s are passed on without unknown flags: %s', (flags, told) => {
  expect(onward(PLAIN.replace(/01$/, flags))?.[0]?.[1]).toMatch(new RegExp(`-${told}$`));
});

const members = (count: number) => Array.from({ length: count }, (_, n) => `k${n}=v`).join(',');

test.each([
  'a=b',
  'a=b, c=d',
  'a=b,,c=d',
  '1tenant@system=x y',
  `a=${'x'.repeat(256)}`,
  members(32),
])('section 3.3.1: the tracestate %j is passed on', (state) => {
  expect(onward(PLAIN, state)).toContainEqual(['tracestate', state]);
});

test.each([
  '',
  ',',
  'a',
  'A=b',
  'a=b=c',
  'a=b,a=c',
  'a=\u007f',
  'a= ',
  '1a=b',
  `a=${'x'.repeat(257)}`,
  members(33),
])('section 3.3.1: the malformed tracestate %j is dropped, but the trace is passed on', (state) => {
  expect(onward(PLAIN, state)).toEqual([['traceparent', `00-${TRACE}-abababababababab-01`]]);
});

test('the passed-on fields are well-formed for any input', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (traceparent, tracestate) => {
      const lines = onward(traceparent, tracestate) ?? onward(PLAIN, tracestate) ?? [];
      expect(lines[0]?.[1]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
      expect(lines[1]?.[1] ?? 'a=b').toMatch(/^[ -~]+$/);
    }),
  );
});
