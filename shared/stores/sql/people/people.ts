import type {
  People,
  PeopleList,
  PeopleRange,
  PersonRecord,
  VerifiedPerson,
  VerifierRow,
} from '../../people/people.ts';
import { hasPasskey, namesOf, putPasskey } from '../credentials/passkeys.ts';
import { digestOf } from '../digest.ts';
import { havingKey, inRange, insertion, insertNew, recordsIn, SLICE, slices } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql, type Transaction } from '../sql.ts';

type Row = readonly [record: string];
type StoredVerifier = readonly [kind: string, realm: string, value: string, handle: string | null];

const people = recordsIn<PersonRecord>('person');
const peopleByKey = recordsIn<PersonRecord>('person_search_key JOIN person USING (id)');
const peopleInLists = recordsIn<PersonRecord>('person_list AS kept JOIN person USING (id)');

const verifierOf = ([kind, realm, value, handle]: StoredVerifier): VerifierRow => ({
  kind,
  realm,
  value,
  ...(handle === null ? {} : { handle }),
});

/** The names to lock before the check whether another person has one of them. */
const namesIn = (
  { aliases = [], search_keys = [] }: Pick<PersonRecord, 'aliases' | 'search_keys'>,
  verifiers: readonly VerifierRow[] = [],
): readonly string[] => [
  ...aliases.map((alias) => `alias ${alias}`),
  // Many people share a word, and none has it alone.
  ...search_keys.filter((key) => !key.startsWith('word:')).map((key) => `search key ${key}`),
  ...verifiers.flatMap(({ handle, realm, kind }) =>
    handle === undefined ? [] : [`handle ${JSON.stringify([handle, realm, kind])}`],
  ),
];

const isAdministrator = ({ admin, disabled }: PersonRecord) => admin === true && disabled !== true;

/** The name to lock if a change makes an administrator none: these changes wait for one another. */
const leaving = (was: PersonRecord, now?: PersonRecord): readonly string[] =>
  isAdministrator(was) && !(now && isAdministrator(now)) ? ['administrators'] : [];

/** Whether another person has one of this person's aliases or handles. */
async function isTaken(
  sql: Sql,
  { id, aliases = [] }: PersonRecord,
  verifiers: readonly VerifierRow[],
): Promise<boolean> {
  for (const alias of aliases) {
    const text = 'SELECT 1 FROM person_alias WHERE alias = ? AND id <> ?';
    const others = await sql.all(text, alias, id);
    if (others.length > 0) return true;
  }
  for (const { handle, kind, realm } of verifiers) {
    if (handle === undefined) continue;
    const text =
      'SELECT 1 FROM person_verifier WHERE handle = ? AND realm = ? AND kind = ? AND id <> ?';
    const others = await sql.all(text, handle, realm, kind, id);
    if (others.length > 0) return true;
  }
  return false;
}

/** Returns the index's text for a list. */
const listText = (list: PeopleList): string =>
  'group' in list ? `group:${list.group}` : `state:${list.state}`;

/** Returns the texts of all lists with the person. */
const listsOf = ({ disabled, admin, profile }: PersonRecord): ReadonlySet<string> =>
  new Set([
    listText({ state: disabled === true ? 'disabled' : 'active' }),
    ...(admin === true ? [listText({ state: 'admin' })] : []),
    ...(profile?.groups ?? []).map((group) => listText({ group })),
  ]);

/** The tables that index people; each has the column `id`. */
const INDEXES = ['person_alias', 'person_search_key', 'person_list'] as const;

async function removeIndexes(sql: Transaction, id: string): Promise<void> {
  for (const table of INDEXES) await sql.later(`DELETE FROM ${table} WHERE id = ?`, id);
}

async function addIndexes(sql: Transaction, person: PersonRecord): Promise<void> {
  const { id, name, aliases = [], search_keys = [] } = person;
  for (const alias of new Set(aliases)) {
    await sql.later(...insertion('person_alias', { alias, id }));
  }
  for (const key of new Set(search_keys)) {
    await sql.later(...insertion('person_search_key', { key, id }));
  }
  for (const list of listsOf(person)) {
    await sql.later(...insertion('person_list', { list, name, id }));
  }
}

async function setVerifiers(
  sql: Transaction,
  id: string,
  verifiers: readonly VerifierRow[],
): Promise<void> {
  await sql.later('DELETE FROM person_verifier WHERE id = ?', id);
  for (const { kind, realm, value, handle = null } of verifiers) {
    await sql.later(...insertion('person_verifier', { id, kind, realm, value, handle }));
  }
}

/**
 * Returns the keys that stay reserved after a removal: the name, and the search key of its looks, which has a colon.
 */
const formerKeys = ({ name, search_keys = [] }: PersonRecord): readonly string[] => [
  name,
  ...search_keys.filter((key) => key.startsWith('looks:')),
];

const formerName = (name: string) => digestOf('former name', name);

const isFormer = async (sql: Sql, name: string): Promise<boolean> =>
  (await sql.all('SELECT 1 FROM former_name WHERE digest = ?', formerName(name))).length > 0;

const isOrWasOfSomebody = async (sql: Sql, key: string): Promise<boolean> =>
  (await isFormer(sql, key)) ||
  (await sql.all('SELECT 1 FROM person_search_key WHERE key = ? LIMIT 1', key)).length > 0;

/** A record that is read in place of an absent person; it has the usual length. */
const NOBODY = JSON.stringify({
  id: '-'.repeat(22),
  name: '-'.repeat(8),
  password_hash: '-'.repeat(97),
  verifier_set: '-'.repeat(43),
  created_at: 0,
  version: 0,
} satisfies PersonRecord);

/** Parses the record of a person, or another one: the time must not tell an attacker which names exist. */
function personFrom(record: string | undefined): PersonRecord | undefined {
  const person: PersonRecord = JSON.parse(record ?? NOBODY);
  return record === undefined ? undefined : person;
}

export function sqlPeople(database: Database): People {
  const recallVerifier = database.recalling<VerifiedPerson | undefined>();

  async function find(sql: Sql, text: string, value: string): Promise<PersonRecord | undefined> {
    const [row] = await sql.all<Row>(text, value);
    return personFrom(row?.[0]);
  }

  const page = ({ list, ...range }: PeopleRange) =>
    database.read(async (sql) => {
      if (list === undefined) {
        return people.all(sql, ...inRange('name', range));
      }
      const [clause, ...values] = inRange('kept.name', range);
      const ofList = clause.replace('WHERE', 'WHERE list = ? AND');
      return peopleInLists.all(sql, ofList, listText(list), ...values);
    });

  return {
    add: (person, verifiers = [], former = 'refused', together = {}) =>
      database.write(async (sql) => {
        const { unshared, passkey } = together;
        await sql.lockNames([
          `name ${person.name}`,
          ...namesIn(person, verifiers),
          ...(unshared === undefined ? [] : [`search key ${unshared}`, `name ${unshared}`]),
          ...(passkey ? namesOf(passkey) : []),
        ]);
        if (await isTaken(sql, person, verifiers)) return false;
        if (former === 'refused' && (await isFormer(sql, person.name))) return false;
        if (unshared !== undefined && (await isOrWasOfSomebody(sql, unshared))) return false;
        if (passkey && (await hasPasskey(sql, passkey.id))) return false;
        const { id, name } = person;
        const row = { id, name, record: JSON.stringify(person) };
        if (!(await insertNew(sql, 'person', row))) return false;
        await sql.later('DELETE FROM former_name WHERE digest = ?', formerName(name));
        await addIndexes(sql, person);
        await setVerifiers(sql, id, verifiers);
        if (passkey) await putPasskey(sql, passkey);
        return true;
      }),
    get: (id) => database.read((sql) => find(sql, 'SELECT record FROM person WHERE id = ?', id)),
    getByName: (name) =>
      database.read((sql) => find(sql, 'SELECT record FROM person WHERE name = ?', name)),
    getByAlias: (alias) =>
      database.read((sql) =>
        find(sql, 'SELECT record FROM person_alias JOIN person USING (id) WHERE alias = ?', alias),
      ),
    search: (key) =>
      database.read((sql) => peopleByKey.all(sql, 'WHERE key = ? LIMIT ?', key, SLICE)),
    searchBeginning: (start) =>
      database.read((sql) => people.all(sql, ...havingKey('id', 'person_search_key', start))),
    getVerifier: (kind, realm, who) =>
      recallVerifier(JSON.stringify([kind, realm, who]), async (sql) => {
        const [column, value] = 'name' in who ? ['name', who.name] : ['handle', who.handle];
        const text = `SELECT record, value FROM person JOIN person_verifier USING (id)
          WHERE ${column} = ? AND realm = ? AND kind = ?`;
        const [row] = await sql.all<[record: string, verifier: string]>(text, value, realm, kind);
        const person = personFrom(row?.[0]);
        return row && person && { person, value: row[1] };
      }),
    getWhole: (id) =>
      database.snapshot(async (sql) => {
        const person = await find(sql, 'SELECT record FROM person WHERE id = ?', id);
        const text = 'SELECT kind, realm, value, handle FROM person_verifier WHERE id = ?';
        const verifiers = await sql.all<StoredVerifier>(text, id);
        return person && { person, verifiers: verifiers.map(verifierOf) };
      }),
    page,
    list: () => slices<PersonRecord>((last) => page({ after: last?.name, limit: SLICE })),
    replace: (person, verifiers) =>
      database.write(
        async (sql) => {
          const [row] = await sql.lock<Row>('SELECT record FROM person WHERE id = ?', person.id);
          const stored = personFrom(row?.[0]);
          if (stored === undefined || stored.version !== person.version - 1) return false;
          await sql.lockNames([...namesIn(person, verifiers), ...leaving(stored, person)]);
          if (await isTaken(sql, person, verifiers ?? [])) return false;
          const named = { ...person, name: stored.name };
          const text = 'UPDATE person SET record = ? WHERE id = ?';
          await sql.run(text, JSON.stringify(named), named.id);
          await removeIndexes(sql, named.id);
          await addIndexes(sql, named);
          if (verifiers !== undefined) await setVerifiers(sql, person.id, verifiers);
          return true;
        },
        { makesRoom: person.disabled === true },
      ),
    remove: ({ id, version }) =>
      database.write(async (sql) => {
        const [row] = await sql.lock<Row>('SELECT record FROM person WHERE id = ?', id);
        const stored = personFrom(row?.[0]);
        if (stored === undefined || stored.version !== version) return false;
        const former = formerKeys(stored);
        await sql.lockNames([
          ...namesIn(stored),
          ...leaving(stored),
          ...former.flatMap((key) => [`name ${key}`, `search key ${key}`]),
        ]);
        await sql.run('DELETE FROM person WHERE id = ?', id);
        await removeIndexes(sql, id);
        await setVerifiers(sql, id, []);
        for (const key of former) {
          await insertNew(sql, 'former_name', { digest: formerName(key) });
        }
        return true;
      }, MAKES_ROOM),
    isFormerName: (name) => database.read((sql) => isFormer(sql, name)),
  };
}
