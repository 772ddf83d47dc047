import { type FormerScramKeys, scramRow } from '#shared/stores/people/former-verifiers.ts';
import { verifierSet } from '#shared/stores/people/verifier-set.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

/** A person as schema 2 has them: SCRAM's keys are in the record, what Digest keeps in rows. */
interface Person {
  readonly scram?: Readonly<Record<string, FormerScramKeys>>;
  readonly digest_set?: string;
  readonly verifier_set?: string;
}

/** A verifier as schema 3 has it. */
interface Row {
  readonly kind: string;
  readonly realm: string;
  readonly value: string;
  readonly handle?: string;
}

/** KEYS: the person's rows of Digest, people. ARGV: id. */
const look = script(`
return { redis.call('HGET', KEYS[2], ARGV[1]), redis.call('HGETALL', KEYS[1]) }
`);

/**
 * KEYS: people, userhashes, the person's rows of Digest, handles, the person's verifiers. ARGV: id, the record
 * that is replaced, its successor, how many userhashes go, those, and of each verifier its field, what is kept
 * in it, and its field among the handles or nothing. 0: somebody changed the record in between.
 */
const move = script(`
local id, rows = ARGV[1], 5 + ARGV[4]
if redis.call('HGET', KEYS[1], id) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], id, ARGV[3])
for n = 5, rows - 1 do redis.call('HDEL', KEYS[2], ARGV[n]) end
redis.call('DEL', KEYS[3])
for n = rows, #ARGV, 3 do
  redis.call('HSET', KEYS[5], ARGV[n], ARGV[n + 1])
  if ARGV[n + 2] ~= '' then redis.call('HSET', KEYS[4], ARGV[n + 2], id) end
end
return 1
`);

/**
 * Schema 3: rows of all schemes in `{prefix}:verifiers:{id}`, kind and realm to value and handle, found by
 * `{prefix}:handles`; `{prefix}:digests:{id}` and `{prefix}:userhashes` are no more.
 */
export async function giveRowsToAllSchemes(redis: Connection, prefix: string): Promise<void> {
  const keyOf = (name: string) => `{${prefix}}:${name}`;
  const moved = async (id: string): Promise<void> => {
    const [people, digests] = [keyOf('people'), keyOf(`digests:${id}`)] as const;
    const [was, fields] = await redis.script<[string | null, string[]]>(
      look,
      [digests, people],
      id,
    );
    if (was === null) return;
    const { scram = {}, digest_set: _, ...person } = JSON.parse(was) as Person;
    if (person.verifier_set !== undefined) return;
    const digest = digestRows(fields);
    const keys = Object.entries(scram).map(([hash, kept]) => scramRow(hash, kept));
    const rows = [...digest.map(({ row }) => row), ...keys];
    const done = await redis.durable<number>(
      move,
      [people, keyOf('userhashes'), digests, keyOf('handles'), keyOf(`verifiers:${id}`)],
      id,
      was,
      JSON.stringify({ ...person, verifier_set: verifierSet(rows) }),
      String(digest.length),
      ...digest.map(({ userhash }) => userhash),
      ...rows.flatMap(fieldsOf),
    );
    if (done === 0) await moved(id);
  };
  for await (const slice of scan(redis, keyOf('people'))) {
    await Promise.all(slice.map(([id]) => moved(id)));
  }
}

/** Returns rows and userhash fields, from fields `hash realm` with the values `HA1 userhash`. */
const digestRows = (fields: readonly string[]): { row: Row; userhash: string }[] =>
  fields.flatMap((field, n) => {
    if (n % 2 === 1) return [];
    const [hash, realm] = halves(field);
    const [value, handle] = halves(fields[n + 1] ?? '');
    const row = { kind: `digest ${hash}`, realm, value, handle };
    return [{ row, userhash: `${hash} ${handle} ${realm}` }];
  });

const halves = (text: string): [string, string] => [
  text.slice(0, text.indexOf(' ')),
  text.slice(text.indexOf(' ') + 1),
];

function fieldsOf({ kind, realm, value, handle }: Row): string[] {
  const field = JSON.stringify([kind, realm]);
  return handle === undefined
    ? [field, JSON.stringify([value]), '']
    : [field, JSON.stringify([value, handle]), field + handle];
}
