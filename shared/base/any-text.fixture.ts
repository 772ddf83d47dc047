import * as fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Any character. `unit: 'binary'` of fast-check generates the same, but each suite would first fill a table of a
 * million rows.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.from ? n : n + SURROGATES.count), unmapped);

function unmapped(value: unknown): number {
  const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== value) {
    throw new Error('not a character');
  }
  return point < SURROGATES.from ? point : point - SURROGATES.count;
}

/** Any text, sometimes with names that are special in JavaScript, such as `__proto__`. */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}) =>
  fc.string({ unit: anyCharacter, ...length });
