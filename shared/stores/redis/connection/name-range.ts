import { boundsOf, type NameRange } from '#shared/base/name-range.ts';

/** Returns what `ZRANGE … BYLEX LIMIT 0` takes for a range of names: where it begins and ends, and how many it reads. */
export function lexRange(range: NameRange): readonly [from: string, to: string, limit: string] {
  const { from, inclusive, before } = boundsOf(range);
  return [
    `${inclusive ? '[' : '('}${from}`,
    before === undefined ? '+' : `(${before}`,
    String(range.limit),
  ];
}
