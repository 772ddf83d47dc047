import { script } from '../connection/connection.ts';
import { everyKey } from './every-key.ts';
import type { Move, Mover } from './move.ts';

/** KEYS: a key. Replies with its type, its fields or its value, and the milliseconds that it has left. */
const read = script(`
local kind = redis.call('TYPE', KEYS[1]).ok
local content = {}
if kind == 'hash' then content = redis.call('HGETALL', KEYS[1]) end
return { kind, content, redis.call('PTTL', KEYS[1]) }
`);

/** KEYS: a key. ARGV: its type, milliseconds or -1, its fields. What is there was written by a run that was stopped. */
const write = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return end
if ARGV[1] == 'hash' then redis.call('HSET', KEYS[1], unpack(ARGV, 3)) else redis.call('SET', KEYS[1], '') end
if ARGV[2] ~= '-1' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

/** Tokens, codes, sign-ins, grants and spent private tokens: each is a key, with the id at its end. */
export const moveTokens: Mover = async (run) => {
  for (const pattern of ['artefact:*', 'spent:*']) {
    await everyKey(run.redis, `{${run.prefix}}:${pattern}`, async (keys) => {
      const moved = await Promise.all(keys.map((key) => moveKey(run, key)));
      run.count(moved.filter(Boolean).length);
    });
  }
};

/** False: it is not there any more. */
async function moveKey({ redis, mine, prefix, slots }: Move, from: string): Promise<boolean> {
  const name = from.slice(`{${prefix}}:`.length);
  const to = `${slots.of(idIn(name))}:${name}`;
  const [kind, content, left] = await redis.script<[string, string[], number]>(read, [from]);
  if (kind === 'none') return false;
  await mine.durable(write, [to], kind, String(left), ...content);
  await redis.durableCommand('DEL', from);
  return true;
}

/** Returns the id at the end of `artefact:KIND:ID` or `spent:DIGEST`; an id may have colons. */
const idIn = (name: string) => /^(?:artefact:[^:]*|spent):(.*)$/s.exec(name)?.[1] ?? '';
