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

/** How many members are removed at a time. */
const BATCH = 500;

type Member = readonly [kind: string, id: string];

/** `{prefix}:grant:{grantId}`: the artefacts of a grant as `kind:id`, scored by when they expire. */
export class GrantIndex {
  readonly #redis: Connection;
  readonly #prefix: string;

  constructor(redis: Connection, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async add(grantId: string, kind: string, id: string, life: string): Promise<void> {
    await this.#redis.script(add, [this.#name(grantId)], `${kind}:${id}`, life);
  }

  async has(grantId: string, kind: string, id: string): Promise<boolean> {
    const name = this.#name(grantId);
    return (await this.#redis.command<string | null>('ZSCORE', name, `${kind}:${id}`)) !== null;
  }

  /** Some of the members; none only when there are none. */
  async members(grantId: string): Promise<readonly Member[]> {
    const name = this.#name(grantId);
    const found = await this.#redis.command<string[]>('ZRANGE', name, '0', String(BATCH - 1));
    return found.map((member) => {
      const colon = member.indexOf(':');
      return [member.slice(0, colon), member.slice(colon + 1)];
    });
  }

  async delete(grantId: string, members: readonly Member[]): Promise<void> {
    const joined = members.map(([kind, id]) => `${kind}:${id}`);
    await this.#redis.script(remove, [this.#name(grantId)], ...joined);
  }

  #name(grantId: string): string {
    return `${this.#prefix}:grant:${grantId}`;
  }
}
