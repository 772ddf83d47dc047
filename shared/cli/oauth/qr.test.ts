import { expect, test } from '@jest/globals';
import { encode } from 'uqr';
import { qrLines } from './login-screen.ts';

const LINK = 'https://auth.example/device?user_code=BCDF-GHJK';
const COLORS = '\u001b[38;5;231;48;5;16m';
const RESET = '\u001b[0m';
/** Half blocks in white on black: whether the upper and the lower half are black. */
const HALVES = new Map([
  ['█', [false, false]],
  ['▀', [false, true]],
  ['▄', [true, false]],
  [' ', [true, true]],
]);

/** The modules that the lines show, true for black. */
function modules(lines: readonly string[]): (boolean | undefined)[][] {
  return lines.flatMap((line) => {
    const cells = line.slice(COLORS.length, -RESET.length).split('');
    return [0, 1].map((half) => cells.map((cell) => HALVES.get(cell)?.[half]));
  });
}

test('the lines show the symbol in white on black for any terminal colours, with a quiet zone of 4', () => {
  const lines = qrLines(LINK, 80) ?? [];
  expect(lines.every((line) => line.startsWith(COLORS) && line.endsWith(RESET))).toBe(true);
  const shown = modules(lines);
  const { data, size } = encode(LINK, { border: 0 });
  for (const [y, row] of shown.slice(0, size + 8).entries()) {
    for (const [x, black] of row.entries()) {
      const inside = data[y - 4]?.[x - 4] ?? false;
      expect([x, y, black]).toEqual([x, y, inside]);
    }
  }
  expect(shown[0]).toHaveLength(size + 8);
});

test('the symbol is shown only if the terminal has room for it', () => {
  const { size } = encode(LINK, { border: 4 });
  expect(qrLines(LINK, size)).toHaveLength(Math.ceil(size / 2));
  expect(qrLines(LINK, size - 1)).toBeUndefined();
  expect(qrLines(LINK, 0)).toBeUndefined();
});

test.each([301, 3000, 100_000])('a link of %i characters has no symbol', (length) => {
  expect(qrLines('x'.repeat(length), 1000)).toBeUndefined();
});

test('the longest link with a symbol fits the width of a terminal', () => {
  expect(qrLines('x'.repeat(300), 80)).toBeDefined();
});
