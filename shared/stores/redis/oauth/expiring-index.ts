import type { Slice } from '#shared/stores/oauth/artefacts.ts';
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

const EVERY: Slice = { skip: 0, count: Number.MAX_SAFE_INTEGER };

export type Member = readonly [kind: string, id: string];

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
    return found.map((member): Member => {
      const colon = member.indexOf(':');
      return [member.slice(0, colon), member.slice(colon + 1)];
    });
  }
}
