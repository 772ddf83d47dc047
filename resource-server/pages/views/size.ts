import type { Language } from '#shared/pages/language.ts';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

/** Formats by language and power of 1000. Made on first use, since that takes as long as loading 200 modules. */
const formats = new Map<string, Intl.NumberFormat>();

/** Formats a number of bytes in the unit in which it is shortest. */
export function sizeOf(bytes: number, language: Language): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const key = `${language} ${power}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: UNITS[power],
      maximumFractionDigits: 1,
    });
  formats.set(key, format);
  return format.format(bytes / 1000 ** power);
}
