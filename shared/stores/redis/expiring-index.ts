import { script } from './connection.ts';
import type { Connection } from './connection.ts';

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

export type Member = readonly [kind: string, id: string];

/** Keys that name artefacts as `kind:id`, scored by when they expire. */
export class ExpiringIndex {
  readonly #redis: Connection;

  constructor(redis: Connection) {
    this.#redis = redis;
  }

  /** `life`: milliseconds, or '' for ever. */
  async add(key: string, [kind, id]: Member, life: string): Promise<void> {
    await this.#redis.script(add, [key], `${kind}:${id}`, life);
  }

  async has(key: string, [kind, id]: Member): Promise<boolean> {
    return (await this.#redis.command<string | null>('ZSCORE', key, `${kind}:${id}`)) !== null;
  }

  /** The members, or the first `count` of them. */
  async members(key: string, count = 0): Promise<readonly Member[]> {
    const found = await this.#redis.command<string[]>('ZRANGE', key, '0', String(count - 1));
    return found.map((member) => {
      const colon = member.indexOf(':');
      return [member.slice(0, colon), member.slice(colon + 1)];
    });
  }

  async delete(key: string, members: readonly Member[]): Promise<void> {
    const joined = members.map(([kind, id]) => `${kind}:${id}`);
    await this.#redis.script(remove, [key], ...joined);
  }
}
