import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { ManualClock } from './clock.ts';
import { jsonLog } from './log.ts';

function lineOf(reason: string): string {
  let written = '';
  jsonLog((line) => (written += line), new ManualClock(), 'test').info('event', { reason });
  return written;
}

test('a line has no control character (DEL and C1 included), and says the same', () => {
  const controls = '\x00\n\x1b[2J\x7f\x80\x9b2J\x9f';
  const line = lineOf(controls);
  expect(line).toContain(String.raw`\u001b[2J\u007f\u0080\u009b2J\u009f`);
  expect(JSON.parse(line)).toMatchObject({ reason: controls });
});

test('whatever is written is one line of what can be printed', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const line = lineOf(text);
      expect(line).toMatch(/^\P{Cc}*\n$/u);
      expect(JSON.parse(line)).toMatchObject({ reason: text });
    }),
  );
});
