import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { StoredTokenKey, TokenKeys } from '#shared/stores/keys/token-keys.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';

type Outcome = Awaited<ReturnType<TokenKeys['add']>>;

/** An element of the list, as JSON. */
type Row = readonly [key: StoredTokenKey, truncatedId: number];

/** ARGV: row, the id of the newest key of its type or ''. */
const add = script(`
local key, truncated = unpack(cjson.decode(ARGV[1]))
local newest, collides = '', false
for _, row in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local other, its = unpack(cjson.decode(row))
  if other.type == key.type then
    newest = other.id
    collides = collides or its == truncated
  end
end
if newest ~= ARGV[2] then return 'late' end
if collides then return 'collides' end
redis.call('RPUSH', KEYS[1], ARGV[1])
return 'added'
`);

/** ARGV: row and, unless it goes, the row that takes its place. */
const replace = script(`
for place, row in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if row == ARGV[1] then
    if ARGV[2] then
      redis.call('LSET', KEYS[1], place - 1, ARGV[2])
    else
      redis.call('LREM', KEYS[1], 1, row)
    end
    return 1
  end
end
return 0
`);

const increment = script(`return redis.call('INCR', KEYS[1])`);

/**
 * The list `{prefix}:token-keys` and the count of recalls beside it, in the slot of the revocations and as
 * durable as they are.
 */
export function redisTokenKeys(redis: Commands, prefix: string): TokenKeys {
  const name = `{${prefix}}:token-keys`;
  const recalls = `${name}:recalls`;
  const rows = () => redis.command<string[]>('LRANGE', name, '0', '-1');
  const parsed = (row: string): Row => JSON.parse(row);

  /** Looks again when the row was changed in between. `edit` returns undefined when the row is to go. */
  async function change(
    type: TokenType,
    id: string,
    edit: (key: StoredTokenKey) => StoredTokenKey | undefined,
  ): Promise<void> {
    for (;;) {
      const was = (await rows()).find((row) => {
        const [key] = parsed(row);
        return key.type === type && key.id === id;
      });
      if (was === undefined) return redis.settled(name);
      const [key, truncatedId] = parsed(was);
      const edited = edit(key);
      const replacement = edited === undefined ? [] : [JSON.stringify([edited, truncatedId])];
      if ((await redis.durable<number>(replace, [name], was, ...replacement)) === 1) return;
    }
  }

  return {
    async list() {
      return (await rows()).map((row) => parsed(row)[0]);
    },
    add(key, newest) {
      const row: Row = [key, truncatedKeyId(Buffer.from(key.id, 'base64url'))];
      return redis.durable<Outcome>(add, [name], JSON.stringify(row), newest ?? '');
    },
    retire: (type, id) =>
      change(type, id, (key) => {
        const { sealed: _, ...retired } = key;
        return retired;
      }),
    async recall() {
      await redis.durable(increment, [recalls]);
    },
    async recalls() {
      return Number(await redis.command<string | null>('GET', recalls));
    },
    remove: (type, id) => change(type, id, () => undefined),
  };
}
