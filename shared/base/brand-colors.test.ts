import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BACKGROUND, READABLE, brandColors, contrast } from './brand-colors.ts';

const color = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

describe('contrast (WCAG 2.2, 1.4.3)', () => {
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 4],
  ])('the contrast of %s on %s is %d', (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 2);
    expect(contrast(other, one)).toBeCloseTo(ratio, 2);
  });
});

describe('the colours of a brand', () => {
  test('the colors of a brand are readable for any choice of the operator', () => {
    fc.assert(
      fc.property(color, (chosen) => {
        const { fill, onFill, light, dark } = brandColors(chosen);
        expect(fill).toBe(chosen);
        expect(contrast(onFill, fill)).toBeGreaterThanOrEqual(READABLE);
        expect(contrast(light, BACKGROUND.light)).toBeGreaterThanOrEqual(READABLE);
        expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(READABLE);
        expect(contrast(dark, BACKGROUND.dark)).toBeGreaterThanOrEqual(READABLE);
        expect(contrast(dark, '#101216')).toBeGreaterThanOrEqual(READABLE);
        for (const value of [light, dark, onFill]) expect(value).toMatch(/^#[0-9a-f]{6}$/);
      }),
      { numRuns: 500 },
    );
  });

  test('the colors of a brand stay as they are if they are readable', () => {
    expect(brandColors('#1f5fbf').light).toBe('#1f5fbf');
    expect(brandColors('#9ec1ff').dark).toBe('#9ec1ff');
  });

  test('the colors of a brand change only as much as is needed', () => {
    const { light } = brandColors('#ffd400');
    expect(contrast(light, BACKGROUND.light)).toBeLessThan(READABLE + 0.5);
  });
});
