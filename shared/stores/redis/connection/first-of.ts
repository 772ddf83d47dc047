/** Returns the first `count` of a part that come after one of it; undefined: from its beginning. */
export type ReadPart<T> = (after: T | undefined, count: number) => Promise<readonly T[]>;

/** Rows that are read of a part at first, and how many times as many the next time: few of many parts have many. */
const PART = { first: 16, growth: 4 };

/** Rows of a part that were read and not returned yet. */
interface Read<T> {
  readonly read: ReadPart<T>;
  readonly rows: readonly T[];
  /** How many were asked for. */
  readonly asked: number;
  /** The last row, behind which more may be; undefined: there was no more. */
  readonly end: T | undefined;
}

/**
 * Returns the first `count` rows of all parts in one order, which each part has by itself. Little more is read than is
 * returned, and parts whose rows are known to be later are not asked again.
 */
export async function firstOf<T>(
  parts: readonly ReadPart<T>[],
  compare: (a: T, b: T) => number,
  count: number,
): Promise<readonly T[]> {
  async function more(read: ReadPart<T>, after: T | undefined, most: number): Promise<Read<T>> {
    const asked = Math.min(most, count);
    const rows = await read(after, asked);
    return { read, rows, asked, end: rows[asked - 1] };
  }

  const first: T[] = [];
  const few = parts.length === 1 ? count : PART.first;
  let known = await Promise.all(parts.map((read) => more(read, undefined, few)));
  for (;;) {
    // Rows behind the end of a part may precede those of others.
    const [end] = known.flatMap((part) => part.end ?? []).toSorted(compare);
    const isSure = (row: T) => end === undefined || compare(row, end) <= 0;
    first.push(...known.flatMap(({ rows }) => rows.filter(isSure)).toSorted(compare));
    if (end === undefined || first.length >= count) return first.slice(0, count);
    known = await Promise.all(
      known.map(async (part) => {
        const { read, asked, end: last } = part;
        const rows = part.rows.filter((row) => !isSure(row));
        if (rows.length > 0 || last === undefined) return { read, rows, asked, end: last };
        return more(read, last, PART.growth * asked);
      }),
    );
  }
}
