import { MOST_ENTRIES } from '#shared/stores/audit/audit.ts';
import type { Commands } from '../connection/connection.ts';
import { firstOf, type ReadPart } from '../connection/first-of.ts';

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

/** Returns the first `MOST_ENTRIES` entries behind the positions, of all streams in one order. */
export function firstOpen(
  redis: Commands,
  streams: readonly string[],
  positions: Positions,
): Promise<readonly OpenEntry[]> {
  const parts = streams.map((stream): ReadPart<OpenEntry> => async (after, count) => {
    const position = after?.entry[0] ?? positions[stream];
    const from = position === undefined ? '-' : `(${position}`;
    const range = [from, '+', 'COUNT', String(count)];
    const found = await redis.command<Entry[]>('XRANGE', stream, ...range);
    return found.map((entry) => ({ stream, entry }));
  });
  return firstOf(parts, inOrder, MOST_ENTRIES);
}
