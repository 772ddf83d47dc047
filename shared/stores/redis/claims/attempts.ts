import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Commands, type Keys, type Script, script } from '../connection/connection.ts';

/** Milliseconds after which an attempt ends by itself: of a process that died. */
const LIFE = 60_000;

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** KEYS: a person's attempts. ARGV: attempt. */
export const begin = script(`
${NOW}
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ${LIFE})
`);

/** Milliseconds that an attempt has before another one may end it. A process may stand still, and a Redis may. */
const PATIENCE = 2000;

/**
 * KEYS: a person's attempts, where it says that they have the thing, the former names. ARGV: command, its argument and its reply
 * (`heldBy`), the digest for the former names or ''. Ends attempts that are too old, or that began when the clock was ahead. What it
 * replies with holds until the person makes another attempt.
 */
export const judge = script(`
local found = redis.call(ARGV[1], KEYS[2], ARGV[2])
if found and found ~= 0 and (ARGV[3] == '' or found == ARGV[3]) then return 'held' end
${NOW}
local attempts = redis.call('HGETALL', KEYS[1])
for n = 2, #attempts, 2 do
  local age = now - attempts[n]
  if age >= 0 and age < ${PATIENCE} then return 'attempted' end
end
redis.call('DEL', KEYS[1])
return redis.call('SISMEMBER', KEYS[3], ARGV[4]) == 1 and 'former' or 'free'
`);

const known = new Map<Script, Script>();

function ofAttempt(body: Script): Script {
  const found =
    known.get(body) ??
    script(`
if redis.call('HDEL', table.remove(KEYS), table.remove(ARGV)) == 0 then
  return 'late'
end
${body.lua}`);
  known.set(body, found);
  return found;
}

/** The same, whose only durable script fails if the attempt was ended, and ends it. `ends` is called when it begins. */
export function inAttempt(
  redis: Commands,
  attempts: string,
  attempt: string,
  ends: () => void,
): Commands {
  return {
    command: (name, key, ...args) => redis.command(name, key, ...args),
    script: (body, keys, ...args) => redis.script(body, keys, ...args),
    settled: (key) => redis.settled(key),
    durableCommand: (name, key, ...args) => redis.durableCommand(name, key, ...args),
    async durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
      ends();
      const withAttempt = [...keys, attempts] as const;
      const answer = await redis.durable<T | 'late'>(
        ofAttempt(body),
        withAttempt,
        ...args,
        attempt,
      );
      if (answer !== 'late') return answer;
      throw new StoreUnavailable('this took so long that somebody else was let go on: repeat it', {
        refused: true,
      });
    },
  };
}
