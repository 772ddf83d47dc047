import { columns } from '#shared/base/printable.ts';

/**
 * Returns the lines of a table, with aligned columns. A long list is printed in slices: `widths` keeps the widths of
 * the columns from one slice to the next, and only the first slice has the headings.
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
