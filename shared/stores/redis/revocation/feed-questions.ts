import { type Script, script } from '../connection/connection.ts';
import { type Entries, type EntryId, STREAM_START } from './revocation-stream.ts';

/** The id of the last entry ever written. KEYS: the stream is the first. */
export const lastEntry = `
local last = '${STREAM_START}'
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then last = info[i + 1] end
  end
end
`;

/** KEYS: stream, epoch. Replies with the epoch and the id of the last entry ever written. */
export const look = script(`${lastEntry}
return { redis.call('GET', KEYS[2]), last }
`);

const newEntries = `${lastEntry}
local entries = {}
if last ~= ARGV[1] then
  local known = ARGV[1] == '${STREAM_START}' or #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 1
  local found = known and redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
  entries = known and (found and found[1][2] or {})
end
`;

/**
 * KEYS as above. ARGV: cursor, number of entries. Replies with the entries after the cursor as well; false in their
 * place, when the cursor is no entry of this stream: another server answers, which may have others before it.
 */
const catchUp = script(`${newEntries}
return { redis.call('GET', KEYS[2]), last, entries }
`);

/**
 * As above, and of each further stream, whose start and cursor are ARGV: false and the entries after the cursor, or
 * the id of the last entry, where the cursor is none.
 */
const catchUpAll = script(`${newEntries}
local function behind(stream, start, cursor)
  if cursor ~= '' then
    local found = redis.call('XRANGE', stream, cursor, '+', 'COUNT', ARGV[2] + 1)
    if found[1] and found[1][1] == cursor then
      table.remove(found, 1)
      return { false, found }
    end
    if cursor == start and redis.call('EXISTS', stream) == 0 then return { false, {} } end
  end
  local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  return { newest and newest[1] or start, {} }
end
local reply = { redis.call('GET', KEYS[2]), last, entries }
for n = 3, #KEYS do reply[n + 1] = behind(KEYS[n], ARGV[2 * n - 3], ARGV[2 * n - 2]) end
return reply
`);

export type Answer = readonly [
  epoch: string | null,
  last: EntryId,
  entries: Entries | null,
  ...(readonly [end: EntryId | null, entries: Entries])[],
];

/** Entries of one answer. */
export const COUNT = 1000;

/** Another stream of the slot, of which the same questions ask. */
export interface Beside {
  readonly stream: string;
  /** The first entry of the stream, or of one that is not there yet. */
  readonly start: EntryId;
  /** Behind which entry to read; '' where that is not known. */
  readonly cursor: EntryId | '';
  take(answer: BesideAnswer): void;
}

export interface BesideAnswer {
  readonly epoch: string;
  /** The last entry, where the cursor is none of this stream: what came after it is not known. Else null. */
  readonly end: EntryId | null;
  /** The entries after the cursor, at most `COUNT`. */
  readonly entries: Entries;
  /** When it was asked for, of `monotonic()`; -Infinity where nobody knows whether that server may still answer. */
  readonly asked: number;
}

/** Returns the question for a stream of revocations and the streams beside it. */
export function question(
  {
    stream,
    epoch,
    cursor,
  }: { readonly stream: string; readonly epoch: string; readonly cursor: EntryId },
  beside: readonly Beside[],
): readonly [Script, readonly [string, ...string[]], ...string[]] {
  return [
    beside.length === 0 ? catchUp : catchUpAll,
    [stream, epoch, ...beside.map((other) => other.stream)],
    cursor,
    String(COUNT),
    ...beside.flatMap((other) => [other.start, other.cursor]),
  ];
}
