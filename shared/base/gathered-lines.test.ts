import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { gatherLines } from './gathered-lines.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

type Written = (error?: Error | null) => void;

function gathered() {
  const written: string[] = [];
  let broken = false;
  const to = {
    writableLength: 0,
    write(lines: string, done?: Written) {
      if (broken) return done?.(new Error('EPIPE')) ?? true;
      return written.push(lines) > 0;
    },
  };
  const breaks = (now: boolean) => void (broken = now);
  const lines = gatherLines(to, (lost) => lines.write(`lost ${lost}\n`, true));
  return { ...lines, written, to, breaks };
}

test('lines wait at most 20 ms for further lines, and are written in order', () => {
  const { write, written } = gathered();
  write('1\n', false);
  jest.advanceTimersByTime(19);
  write('2\n', false);
  expect(written).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(written).toEqual(['1\n2\n']);
  write('3\n', false);
  jest.advanceTimersByTime(20);
  expect(written).toEqual(['1\n2\n', '3\n']);
});

test('an urgent line is written at once after the waiting lines, which are not written again', () => {
  const { write, written } = gathered();
  write('info\n', false);
  write('warn\n', true);
  jest.advanceTimersByTime(100);
  expect(written).toEqual(['info\nwarn\n']);
});

test('waiting lines are bounded: 32 KiB are written at once', () => {
  const { write, written } = gathered();
  const line = `${'x'.repeat(1023)}\n`;
  for (let lines = 0; lines < 100; lines += 1) write(line, false);
  expect(written.map(({ length }) => length)).toEqual([32_768, 32_768, 32_768]);
});

test('closing writes the waiting lines; without any, it writes nothing', () => {
  const { write, flush, written } = gathered();
  flush();
  write('last\n', false);
  flush();
  flush();
  expect(written).toEqual(['last\n']);
});

test('without a reader at most 16 MiB are handed on; later the number of lost lines comes first', () => {
  const { write, flush, written, to } = gathered();
  const handOn = to.write;
  to.write = (lines) => {
    to.writableLength += lines.length;
    return handOn(lines);
  };
  const line = `${'x'.repeat(1023)}\n`;
  for (let lines = 0; lines < 20 * 1024; lines += 1) write(line, false);
  expect(to.writableLength).toBe(16 * 1024 * 1024 + 32 * 1024);
  const all = 20 * 1024;
  const lost = all - to.writableLength / line.length;
  to.writableLength = 0;
  written.length = 0;
  write('read again\n', true);
  write('and again\n', true);
  expect(written).toEqual([`lost ${lost}\n`, 'read again\n', 'and again\n']);

  to.writableLength = 20_000_000;
  write('the last\n', true);
  to.writableLength = 0;
  flush();
  expect(written.slice(3)).toEqual(['lost 1\n']);
});

test('lost lines and lines that failed are counted, and reported once writing works again', () => {
  const { write, written, breaks } = gathered();
  write('1\n', true);
  breaks(true);
  write('2\n', false);
  write('3\n', true);
  for (const line of ['4\n', '5\n']) write(line, true);
  breaks(false);
  write('6\n', true);
  write('7\n', true);
  expect(written).toEqual(['1\n', 'lost 4\n', '6\n', '7\n']);
});
