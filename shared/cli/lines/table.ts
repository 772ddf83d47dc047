import { columns } from '#shared/base/printable.ts';

/**
 * Lines of a table under its headings, with the columns in line. `widths` carries them from slice to slice of one
 * list; headings stand before the first.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  widths: number[] = [],
): string[] {
  const first = widths.length === 0;
  return columns(
    first ? [headings.map((heading) => heading.toUpperCase()), ...rows] : rows,
    widths,
  );
}
