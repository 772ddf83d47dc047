import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { gatherLines } from './gathered-lines.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function gathered() {
  const written: string[] = [];
  return { ...gatherLines((lines) => written.push(lines)), written };
}

test('lines wait for others for 20 ms at most, and are written in order', () => {
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

test('an urgent line is written at once, behind those that wait, which are not written again', () => {
  const { write, written } = gathered();
  write('info\n', false);
  write('warn\n', true);
  jest.advanceTimersByTime(100);
  expect(written).toEqual(['info\nwarn\n']);
});

test('what waits is bounded: 32 KiB are written without waiting', () => {
  const { write, written } = gathered();
  const line = `${'x'.repeat(1023)}\n`;
  for (let lines = 0; lines < 100; lines += 1) write(line, false);
  expect(written.map(({ length }) => length)).toEqual([32_768, 32_768, 32_768]);
});

test('whoever ends writes what waits; where nothing waits nothing is written', () => {
  const { write, flush, written } = gathered();
  flush();
  write('last\n', false);
  flush();
  flush();
  expect(written).toEqual(['last\n']);
});
