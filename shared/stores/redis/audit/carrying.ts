import { isUnchanged, UNCHANGED_WORDS } from '#shared/stores/audit/unchanged.ts';
import { type Commands, type Keys, type Script, script } from '../connection/connection.ts';
import type { AuditStreams } from './streams.ts';

/** Runs a command as a script does: its key, and the rest of its words. */
const commanded = script('return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))');

const WORDS = UNCHANGED_WORDS.map((word) => `['${word}'] = true`).join(', ');

/**
 * The script that does the same and then, if that changed something, appends entries. The stream is its last key, and
 * the entries and their number its last arguments. A stream of another type fails before anything is written, since
 * Redis takes nothing of a script back.
 */
const extended = ({ lua }: Script): Script =>
  script(`
local stream = table.remove(KEYS)
local entries = {}
for n = tonumber(table.remove(ARGV)), 1, -1 do entries[n] = table.remove(ARGV) end
redis.call('XLEN', stream)
local function change()
${lua}
end
local answer = change()
local unchanged = { [0] = true, [-1] = true, [false] = true, ${WORDS} }
if answer == nil or not unchanged[answer] then
  for _, text in ipairs(entries) do redis.call('XADD', stream, '*', 'text', text) end
end
return answer
`);

const known = new Map<string, Script>();

function withEntries(body: Script): Script {
  const found = known.get(body.sha1) ?? extended(body);
  known.set(body.sha1, found);
  return found;
}

/**
 * The same connection. The first durable write through it that changes something appends `texts` to the audit log in
 * the same script, so that both are there or neither.
 */
export function carrying(
  redis: Commands,
  streams: AuditStreams,
  texts: readonly string[],
): Commands {
  let carried = false;

  return {
    command: (name, key, ...args) => redis.command(name, key, ...args),
    script: (body, keys, ...args) => redis.script(body, keys, ...args),
    settled: (key) => redis.settled(key),
    durableCommand: (name, key, ...args) => durable(commanded, [key], name, ...args),
    durable,
  };

  async function durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
    if (carried) return redis.durable<T>(body, keys, ...args);
    const last = [...texts, String(texts.length)];
    const withStream = [...keys, streams.of(keys[0])] as const;
    const answer = await redis.durable<T>(withEntries(body), withStream, ...args, ...last);
    carried = !isUnchanged(answer);
    return answer;
  }
}
