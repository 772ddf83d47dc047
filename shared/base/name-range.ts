/** A part of a list of names that is sorted by their octets. */
export interface NameRange {
  /** The most rows. */
  readonly limit: number;
  /** Only names after this name. */
  readonly after?: string | undefined;
  /** Only names that begin with this text. */
  readonly prefix?: string | undefined;
}

/** The limits of a range of names, such as the names with one prefix. */
export interface Bounds {
  readonly from: string;
  /** True if `from` itself is in the range. */
  readonly inclusive: boolean;
  /** The first name after the range; undefined if the range has no end. */
  readonly before: string | undefined;
}

/** Returns the bounds of a range, whichever of `after` and `prefix` comes first in the list. */
export function boundsOf({ after, prefix = '' }: NameRange): Bounds {
  const isLater = after !== undefined && byOctets(after, prefix) >= 0;
  return {
    from: isLater ? after : prefix,
    inclusive: !isLater,
    before: prefix === '' ? undefined : `${prefix}${LAST}`,
  };
}

/**
 * Compares names for such a list. The order differs from `<`, since UTF-16 puts characters above U+FFFF before
 * U+E000.
 */
export const byOctets = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The last character of Unicode; no name has it. */
const LAST = '\u{10FFFF}';
