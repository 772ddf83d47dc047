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

test('a line has no control character, not even DEL or C1, and its meaning is unchanged', () => {
  const controls = '\x00\n\x1b[2J\x7f\x80\x9b2J\x9f';
  const line = lineOf(controls);
  expect(line).toContain(String.raw`\u001b[2J\u007f\u0080\u009b2J\u009f`);
  expect(JSON.parse(line)).toMatchObject({ reason: controls });
});

test('writes each entry as one line of printable characters', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const line = lineOf(text);
      expect(line).toMatch(/^\P{Cc}*\n$/u);
      expect(JSON.parse(line)).toMatchObject({ reason: text });
    }),
  );
});

test('a line has its time, level and server first; every level but `info` is urgent', () => {
  const written: unknown[] = [];
  const log = jsonLog((line, urgent) => written.push([line, urgent]), new ManualClock(0), 'rs "1"');
  log.info('began');
  log.warn('slow', { status: 503, reason: undefined });
  log.error('failed', { reason: undefined });
  const begin = String.raw`{"time":"1970-01-01T00:00:00.000Z"`;
  const server = String.raw`"server":"rs \"1\""`;
  expect(written).toEqual([
    [`${begin},"level":"info",${server},"event":"began"}\n`, false],
    [`${begin},"level":"warn",${server},"event":"slow","status":503}\n`, true],
    [`${begin},"level":"error",${server},"event":"failed"}\n`, true],
  ]);
});
