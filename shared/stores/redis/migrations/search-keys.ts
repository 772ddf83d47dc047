import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

/** A person as schema 5 has them. */
interface Person {
  readonly name: string;
  readonly profile?: { readonly emails?: readonly { readonly address: string }[] };
  readonly search_keys?: readonly string[];
}

/**
 * KEYS: people, search keys. ARGV: id, the record that is replaced, its successor, and the members of the search keys. 0:
 * somebody changed the record in between.
 */
const move = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
for n = 4, #ARGV do redis.call('ZADD', KEYS[2], 0, ARGV[n]) end
return 1
`);

/** Schema 6: people are found by addresses, and by the looks of their names, through `{prefix}:people:search`. */
export async function giveSearchKeysToPeople(redis: Connection, prefix: string): Promise<void> {
  const [people, search] = [`{${prefix}}:people`, `{${prefix}}:people:search`] as const;
  const moved = async (id: string): Promise<void> => {
    const was = await redis.command<string | null>('HGET', people, id);
    if (was === null) return;
    const person = JSON.parse(was) as Person;
    if (person.search_keys !== undefined) return;
    const keys = keysOf(person);
    const record = JSON.stringify({ ...person, search_keys: keys });
    const members = keys.map((key) => `${key}\0${id}`);
    const done = await redis.durable<number>(move, [people, search], id, was, record, ...members);
    if (done === 0) await moved(id);
  };
  for await (const slice of scan(redis, people)) {
    await Promise.all(slice.map(([id]) => moved(id)));
  }
}

const keysOf = ({ name, profile: { emails = [] } = {} }: Person): readonly string[] => [
  ...new Set(emails.map(({ address }) => `email:${address.replaceAll(/[A-Z]/g, lower)}`)),
  `looks:${name
    .replaceAll(/[._-]/g, '')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')}`,
];

const lower = (letter: string) => letter.toLowerCase();
