import { MOST_ENTRIES } from '#shared/stores/audit/audit.ts';
import type { Commands } from '../connection/connection.ts';

export type Entry = readonly [id: string, fields: readonly [name: string, value: string]];
/** How far each stream is closed: the id of the last entry. */
export type Positions = Readonly<Record<string, string>>;

interface OpenEntry {
  readonly stream: string;
  readonly entry: Entry;
}

/** The id of an entry of a stream as two numbers: milliseconds, and a count within them. */
export const partsOf = (id: string) => id.split('-').map(Number) as [number, number];

const inOrder = ({ entry: [a] }: OpenEntry, { entry: [b] }: OpenEntry): number => {
  const [left, right] = [partsOf(a), partsOf(b)];
  return left[0] - right[0] || left[1] - right[1];
};

/** Entries that are read of a stream at first, and how many times as many the next time: few of many streams have many. */
const PART = { first: 16, growth: 4 };

/** Entries of a stream that were read and not returned yet. */
interface Part {
  readonly stream: string;
  readonly entries: readonly OpenEntry[];
  /** How many were asked for. */
  readonly asked: number;
  /** The last entry, behind which more may be; undefined: there was no more. */
  readonly end: OpenEntry | undefined;
}

/** Returns the first `MOST_ENTRIES` entries behind the positions, of all streams in one order. */
export async function firstOpen(
  redis: Commands,
  streams: readonly string[],
  positions: Positions,
): Promise<readonly OpenEntry[]> {
  async function read(stream: string, after: string | undefined, asked: number): Promise<Part> {
    const from = after === undefined ? '-' : `(${after}`;
    const range = [from, '+', 'COUNT', String(asked)];
    const found = await redis.command<Entry[]>('XRANGE', stream, ...range);
    const entries = found.map((entry) => ({ stream, entry }));
    return { stream, entries, asked, end: entries[asked - 1] };
  }

  const first: OpenEntry[] = [];
  let parts = await Promise.all(
    streams.map((stream) => read(stream, positions[stream], PART.first)),
  );
  for (;;) {
    // Entries behind the end of a part may precede those of others.
    const [end] = parts.flatMap((part) => part.end ?? []).toSorted(inOrder);
    const isSure = (open: OpenEntry) => end === undefined || inOrder(open, end) <= 0;
    first.push(...parts.flatMap(({ entries }) => entries.filter(isSure)).toSorted(inOrder));
    if (end === undefined || first.length >= MOST_ENTRIES) return first.slice(0, MOST_ENTRIES);
    parts = await Promise.all(
      parts.map(async (part) => {
        const entries = part.entries.filter((open) => !isSure(open));
        const { stream, asked, end: last } = part;
        if (entries.length > 0 || last === undefined) return { stream, entries, asked, end: last };
        return read(stream, last.entry[0], Math.min(PART.growth * asked, MOST_ENTRIES));
      }),
    );
  }
}
