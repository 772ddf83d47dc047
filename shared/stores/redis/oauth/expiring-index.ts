import { byOctets } from '#shared/base/name-range.ts';
import { NEVER, type Slice } from '#shared/stores/oauth/artefacts.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';

/** Lives as long as the member that lives longest. */
const settle = `
local longest = redis.call('ZRANGE', KEYS[1], 0, 0, 'REV', 'WITHSCORES')[2]
if longest == 'inf' then redis.call('PERSIST', KEYS[1])
elseif longest then redis.call('PEXPIREAT', KEYS[1], longest) end
`;

/** ARGV: member, milliseconds or ''. Drops the members that have expired. */
const add = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
local expiry = ARGV[2] == '' and 'inf' or string.format('%.0f', now + ARGV[2])
redis.call('ZADD', KEYS[1], expiry, ARGV[1])
${settle}`);

const remove = script(`
redis.call('ZREM', KEYS[1], unpack(ARGV))
${settle}`);

const count = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZCOUNT', KEYS[1], string.format('%.0f', now), '+inf')
`);

/**
 * ARGV: how many, and behind which score and member, if any. Replies with members and scores of what has not expired, the
 * highest first. Ranks are searched by halves: the member need not be there. Members are compared as the set does it, by octets.
 */
const page = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function isLess(one, other)
  for n = 1, math.min(#one, #other) do
    local a, b = string.byte(one, n), string.byte(other, n)
    if a ~= b then return a < b end
  end
  return #one < #other
end
local low, high = 0, redis.call('ZCOUNT', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
local last = high
if not ARGV[2] then high = 0 end
local score = ARGV[2] == 'inf' and math.huge or tonumber(ARGV[2])
while low < high do
  local middle = math.floor((low + high) / 2)
  local found = redis.call('ZRANGE', KEYS[1], middle, middle, 'REV', 'WITHSCORES')
  local its = found[2] == 'inf' and math.huge or tonumber(found[2])
  if its < score or (its == score and isLess(found[1], ARGV[3])) then high = middle else low = middle + 1 end
end
local stop = math.min(low + ARGV[1], last) - 1
return stop < low and {} or redis.call('ZRANGE', KEYS[1], low, stop, 'REV', 'WITHSCORES')
`);

const EVERY: Slice = { skip: 0, count: Number.MAX_SAFE_INTEGER };

export type Member = readonly [kind: string, id: string];

/** A member, and when it expires, or `NEVER`. */
export interface Placed {
  readonly member: Member;
  readonly end: number;
}

/** Keys that name artefacts as `kind:id`, scored by when they expire. */
export class ExpiringIndex {
  readonly #redis: Commands;

  constructor(redis: Commands) {
    this.#redis = redis;
  }

  /** `life`: milliseconds, or '' for ever. */
  async add(key: string, [kind, id]: Member, life: string): Promise<void> {
    await this.#redis.durable(add, [key], `${kind}:${id}`, life);
  }

  async has(key: string, [kind, id]: Member): Promise<boolean> {
    return (await this.#redis.command<string | null>('ZSCORE', key, `${kind}:${id}`)) !== null;
  }

  /** The first `most` members. */
  members(key: string, most: number): Promise<readonly Member[]> {
    return this.#range(key, 0, most);
  }

  /** All members or a slice of them, those that live longest first. */
  latest(key: string, { skip, count: most }: Slice = EVERY): Promise<readonly Member[]> {
    return this.#range(key, skip, most, 'REV');
  }

  /** So many members behind a place, or from the first on, those that live longest first, with their places. */
  async page(key: string, most: number, after?: Placed): Promise<readonly Placed[]> {
    const place = after ? [scoreOf(after.end), after.member.join(':')] : [];
    const found = await this.#redis.script<string[]>(page, [key], String(most), ...place);
    return found.flatMap((name, n) => {
      const score = found[n + 1];
      if (n % 2 === 1 || score === undefined) return [];
      return [{ member: memberOf(name), end: score === 'inf' ? NEVER : Number(score) }];
    });
  }

  /** How many have not expired. */
  count(key: string): Promise<number> {
    return this.#redis.script<number>(count, [key]);
  }

  async delete(key: string, members: readonly Member[]): Promise<void> {
    const joined = members.map(([kind, id]) => `${kind}:${id}`);
    await this.#redis.durable(remove, [key], ...joined);
  }

  async #range(key: string, skip: number, most: number, ...order: readonly string[]) {
    const [start, stop] = [String(skip), String(skip + most - 1)];
    const found = await this.#redis.command<string[]>('ZRANGE', key, start, stop, ...order);
    return found.map(memberOf);
  }
}

const scoreOf = (end: number) => (end === NEVER ? 'inf' : String(end));

/** Those that live longest first, as a page has them: of several with one end the last in the order of octets. */
export const byEnd = (a: Placed, b: Placed): number =>
  b.end - a.end || byOctets(b.member.join(':'), a.member.join(':'));

function memberOf(name: string): Member {
  const colon = name.indexOf(':');
  return [name.slice(0, colon), name.slice(colon + 1)];
}
