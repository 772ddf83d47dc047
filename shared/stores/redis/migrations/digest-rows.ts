import { createHash } from 'node:crypto';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

/** A person as schema 1 has them: with what each realm keeps, and userhashes among the aliases. */
interface Person {
  readonly name: string;
  readonly version: number;
  readonly aliases?: readonly string[];
  readonly verifiers?: Readonly<Record<string, Verifiers>>;
}

interface Verifiers {
  readonly digest?: Readonly<Record<string, string>>;
  readonly scram?: Readonly<Record<string, object>>;
}

/** The verifier of Digest of a person for one realm and hash. */
interface Row {
  readonly realm: string;
  readonly hash: string;
  readonly ha1: string;
  readonly userhash: string;
}

/**
 * KEYS: people, the order of names, aliases, userhashes, the person's rows. ARGV: id, name, the record that is
 * replaced, its successor, how many aliases go, those, and of each row its field and value, and its field
 * among the userhashes. 0: somebody changed the record in between.
 */
const move = script(`
local id, rows = ARGV[1], 6 + ARGV[5]
if redis.call('HGET', KEYS[1], id) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], id, ARGV[4])
redis.call('ZADD', KEYS[2], 0, ARGV[2])
for n = 6, rows - 1 do redis.call('HDEL', KEYS[3], ARGV[n]) end
for n = rows, #ARGV, 3 do
  redis.call('HSET', KEYS[5], ARGV[n], ARGV[n + 1])
  redis.call('HSET', KEYS[4], ARGV[n + 2], id)
end
return 1
`);

/**
 * Schema 2: rows of Digest in `{prefix}:digests:{id}`, hash and realm to HA1 and userhash, found by
 * `{prefix}:userhashes`; SCRAM's keys once for all realms; `{prefix}:names:order`.
 */
export async function giveRowsToDigest(redis: Connection, prefix: string): Promise<void> {
  const [people, order, aliases, userhashes] = (
    ['people', 'names:order', 'aliases', 'userhashes'] as const
  ).map((name) => `{${prefix}}:${name}`) as [string, string, string, string];
  const moved = async (id: string): Promise<void> => {
    const was = await redis.command<string | null>('HGET', people, id);
    if (was === null) return;
    const { person, gone, rows } = inRows(JSON.parse(was));
    const done = await redis.durable<number>(
      move,
      [people, order, aliases, userhashes, `{${prefix}}:digests:${id}`],
      id,
      person.name,
      was,
      JSON.stringify(person),
      String(gone.length),
      ...gone,
      ...rows.flatMap(({ realm, hash, ha1, userhash }) => [
        `${hash} ${realm}`,
        `${ha1} ${userhash}`,
        `${hash} ${userhash} ${realm}`,
      ]),
    );
    if (done === 0) await moved(id);
  };
  for await (const slice of scan(redis, people)) {
    await Promise.all(slice.map(([id]) => moved(id)));
  }
}

/** The next version of the record, the aliases that it has no more, and its rows. */
function inRows(former: Person): { person: Person; gone: readonly string[]; rows: Row[] } {
  const { verifiers, aliases = [], ...person } = former;
  const version = person.version + 1;
  // Moved before, or of a later schema.
  if (verifiers === undefined) return { person: { ...former, version }, gone: [], rows: [] };
  const gone = aliases.filter((alias) => alias.startsWith('digest:'));
  const kept = Object.entries(verifiers).flatMap(([realm, { digest = {} }]) =>
    Object.entries(digest).map(([hash, ha1]) => ({ realm, hash, ha1 })),
  );
  const rows = kept.map(({ realm, hash, ha1 }, n) => {
    // In the order of the verifiers that they belong to; a realm, which may have colons, is not in them.
    const userhash = gone[n]?.split(':')[2] ?? '';
    return { realm, hash, ha1, userhash };
  });
  const successor = {
    ...person,
    // SCRAM's keys of all realms are of the same password, so any of them will do.
    scram: Object.assign({}, ...Object.values(verifiers).map(({ scram }) => scram)) as object,
    digest_set: setOf(rows),
    aliases: aliases.filter((alias) => !gone.includes(alias)),
    version,
  };
  return { person: successor, gone, rows };
}

/** A name for the realms and hashes of these rows: the same for the same ones, in any order. */
function setOf(rows: readonly Row[]): string {
  const members = rows.map(({ realm, hash }) => `${hash} ${realm}`).toSorted();
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 22);
}
