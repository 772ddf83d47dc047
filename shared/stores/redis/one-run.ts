import { type Commands, type Keys, type Script, script } from './connection/connection.ts';

/** KEYS: which run writes in a slot. ARGV: the number of a run. Of several the latest does. */
const claim = script(`
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
`);

const ofRun = ({ lua }: Script): Script =>
  script(`
if redis.call('GET', table.remove(KEYS)) ~= table.remove(ARGV) then
  return redis.error_reply('ERR another run of the command has gone on with this')
end
${lua}`);

const slotOf = (key: string) => /^\{[^}]+\}/.exec(key)?.[0] ?? key;
const claimed = (slot: string) => `${slot}:schema:run`;

/** KEYS and ARGV as above. */
const giveBack = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

export interface Run {
  readonly commands: Commands;
  /** Gives the slots back once all is done. */
  end(): Promise<void>;
}

/**
 * Takes slots for a run of a command. Durable scripts of `commands` fail once a later run has taken their slot, or has ended:
 * a process that stood still must not write again what servers have removed meanwhile.
 */
export async function inOneRun(
  redis: Commands,
  run: number,
  slots: readonly string[],
): Promise<Run> {
  const number = String(run);
  const known = new Map<Script, Script>();
  const inAll = async (body: Script) => {
    await Promise.all(slots.map((slot) => redis.durable(body, [claimed(slot)], number)));
  };
  await inAll(claim);
  return {
    commands: {
      command: (name, key, ...args) => redis.command(name, key, ...args),
      script: (body, keys, ...args) => redis.script(body, keys, ...args),
      settled: (key) => redis.settled(key),
      durableCommand: (name, key, ...args) => redis.durableCommand(name, key, ...args),
      durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
        const mine = known.get(body) ?? ofRun(body);
        known.set(body, mine);
        return redis.durable<T>(mine, [...keys, claimed(slotOf(keys[0]))], ...args, number);
      },
    },
    end: () => inAll(giveBack),
  };
}
