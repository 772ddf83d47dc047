import { boundsOf, type NameRange } from '#shared/base/name-range.ts';

/** Returns the end of a query for a range of names in `column`, and its values: ORDER BY and LIMIT included. */
export function inRange(
  column: string,
  range: NameRange,
): readonly [clause: string, ...values: (string | number)[]] {
  const { from, inclusive, before } = boundsOf(range);
  const end = before === undefined ? '' : `AND ${column} < ?`;
  return [
    `WHERE ${column} ${inclusive ? '>=' : '>'} ? ${end} ORDER BY ${column} LIMIT ?`,
    from,
    ...(before === undefined ? [] : [before]),
    range.limit,
  ];
}
