import { digestSet } from '#shared/stores/digest-set.ts';
import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { DigestRow, PersonRecord, ScramKeys } from '#shared/stores/people.ts';
import type { Connection } from './connection.ts';
import { redisPeople } from './people.ts';
import { scan } from './scan.ts';

type Migration = (redis: Connection, prefix: string) => Promise<void>;

/** From each schema to the next. Others may do the same at once, or have been stopped halfway. */
const MIGRATIONS: readonly Migration[] = [giveRowsToDigest];

/** Layout of the keys; a change that older code would misread makes it one higher. */
export const SCHEMA = 1 + MIGRATIONS.length;

/** Brings up to date what an older version has written. */
export async function migrate(redis: Connection, prefix: string): Promise<void> {
  const key = `{${prefix}}:schema`;
  const found = Number(await redis.command<string>('GET', key));
  if (found >= SCHEMA) return;
  for (const migration of MIGRATIONS.slice(found - 1)) await migration(redis, prefix);
  await redis.durableCommand('SET', key, String(SCHEMA));
}

/** A person as schema 1 has them: with what each realm keeps, and userhashes among the aliases. */
interface FormerPerson extends PersonRecord {
  readonly verifiers?: Readonly<Record<string, FormerVerifiers>>;
}

interface FormerVerifiers {
  readonly digest?: Readonly<Record<string, string>>;
  readonly scram?: Readonly<Record<string, ScramKeys>>;
}

async function giveRowsToDigest(redis: Connection, prefix: string): Promise<void> {
  const people = redisPeople(redis, prefix);
  const move = async (id: string): Promise<void> => {
    const person = await people.get(id);
    // False: somebody changed it in between.
    if (person && !(await people.replace(...inRows(person)))) await move(id);
  };
  for await (const slice of scan(redis, `{${prefix}}:people`)) {
    await Promise.all(slice.map(([id]) => move(id)));
  }
}

/** The next version of the record, and its rows; without them when it is of schema 2 already. */
function inRows(former: FormerPerson): [PersonRecord, DigestRow[]?] {
  const { verifiers, aliases = [], ...person } = former;
  const version = person.version + 1;
  if (verifiers === undefined) return [{ ...former, version }];
  // In the order of the verifiers that they belong to; a realm, which may have colons, is not in them.
  const userhashes = aliases.filter(isUserhash).map((alias) => alias.split(':')[2] ?? '');
  const kept = Object.entries(verifiers).flatMap(([realm, { digest = {} }]) =>
    Object.entries(digest).map(([hash, ha1]) => ({ realm, hash: hash as DigestHash, ha1 })),
  );
  const digests = kept.map(({ realm, hash, ha1 }, n) => {
    const userhash = userhashes[n] ?? '';
    return { realm, hash, ha1, userhash };
  });
  return [
    {
      ...person,
      // Whichever realm SCRAM's keys are of, they are of the same password.
      scram: Object.assign({}, ...Object.values(verifiers).map(({ scram }) => scram)),
      digest_set: digestSet(digests),
      aliases: aliases.filter((alias) => !isUserhash(alias)),
      version,
    },
    digests,
  ];
}

const isUserhash = (alias: string) => alias.startsWith('digest:');
