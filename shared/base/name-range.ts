/** A part of a list in the order of the octets of its names. */
export interface NameRange {
  /** Rows at most. */
  readonly limit: number;
  /** Names after this one. */
  readonly after?: string | undefined;
  /** Names that begin with this. */
  readonly prefix?: string | undefined;
}

/** Where a range begins and ends. */
export interface Bounds {
  readonly from: string;
  /** Whether `from` itself is in the range. */
  readonly inclusive: boolean;
  /** No name from this one on is in the range; undefined: every name that is left is. */
  readonly before: string | undefined;
}

/** Returns the bounds of a range, in whatever order `after` and `prefix` come. */
export function boundsOf({ after, prefix = '' }: NameRange): Bounds {
  const isLater = after !== undefined && byOctets(after, prefix) >= 0;
  return {
    from: isLater ? after : prefix,
    inclusive: !isLater,
    before: prefix === '' ? undefined : `${prefix}${LAST}`,
  };
}

/** The order of such a list, which differs from `<`: UTF-16 puts characters above U+FFFF before U+E000. */
export const byOctets = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The last character that there is; no name has it. */
const LAST = '\u{10FFFF}';
