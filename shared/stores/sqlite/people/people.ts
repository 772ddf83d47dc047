import type {
  People,
  PeopleRange,
  PersonRecord,
  VerifiedPerson,
  VerifierRow,
} from '../../people/people.ts';
import { formerKeys } from '../../people/former-keys.ts';
import { listsOf, listText } from '../../people/list-text.ts';
import { personFrom } from '../../people/person-text.ts';
import { SLICE, slices } from '../../people/slices.ts';
import { hasPasskey, putPasskey } from '../file/passkey-rows.ts';
import type { Statements } from '../file/connection.ts';
import { digestOf } from '../file/digest.ts';
import type { Database } from '../file/file.ts';
import { inRange } from '../file/name-range.ts';
import { recalling } from '../file/recalled.ts';

type Row = readonly [record: string];
type StoredVerifier = readonly [kind: string, realm: string, value: string, handle: string | null];

const personOf = ([record]: Row) => JSON.parse(record) as PersonRecord;

const verifierOf = ([kind, realm, value, handle]: StoredVerifier): VerifierRow => ({
  kind,
  realm,
  value,
  ...(handle === null ? {} : { handle }),
});

/** Whether somebody else has one of the person's aliases or handles. */
const taken = (
  connection: Statements,
  { id, aliases = [] }: PersonRecord,
  verifiers: readonly VerifierRow[],
): boolean =>
  aliases.some(
    (alias) =>
      connection.all('SELECT 1 FROM person_alias WHERE alias = ? AND id <> ?', alias, id).length >
      0,
  ) ||
  verifiers.some(
    ({ handle, kind, realm }) =>
      handle !== undefined &&
      connection.all(
        'SELECT 1 FROM person_verifier WHERE handle = ? AND realm = ? AND kind = ? AND id <> ?',
        handle,
        realm,
        kind,
        id,
      ).length > 0,
  );

const setAliases = (
  connection: Statements,
  { id, aliases = [] }: Pick<PersonRecord, 'id' | 'aliases'>,
): void => {
  connection.run('DELETE FROM person_alias WHERE id = ?', id);
  for (const alias of new Set(aliases)) {
    connection.run('INSERT INTO person_alias (alias, id) VALUES (?, ?)', alias, id);
  }
};

const setSearchKeys = (
  connection: Statements,
  { id, search_keys = [] }: Pick<PersonRecord, 'id' | 'search_keys'>,
): void => {
  connection.run('DELETE FROM person_search_key WHERE id = ?', id);
  for (const key of new Set(search_keys)) {
    connection.run('INSERT INTO person_search_key (key, id) VALUES (?, ?)', key, id);
  }
};

const setLists = (connection: Statements, person: PersonRecord): void => {
  connection.run('DELETE FROM person_list WHERE id = ?', person.id);
  for (const list of listsOf(person)) {
    connection.run(
      'INSERT INTO person_list (list, name, id) VALUES (?, ?, ?)',
      list,
      person.name,
      person.id,
    );
  }
};

const setVerifiers = (
  connection: Statements,
  { id }: Pick<PersonRecord, 'id'>,
  verifiers: readonly VerifierRow[],
): void => {
  connection.run('DELETE FROM person_verifier WHERE id = ?', id);
  for (const { kind, realm, value, handle = null } of verifiers) {
    connection.run(
      'INSERT INTO person_verifier (id, kind, realm, value, handle) VALUES (?, ?, ?, ?, ?)',
      id,
      kind,
      realm,
      value,
      handle,
    );
  }
};

const formerName = (name: string) => digestOf('former name', name);

const isFormer = (connection: Statements, name: string): boolean =>
  connection.all('SELECT 1 FROM former_name WHERE digest = ?', formerName(name)).length > 0;

const isOrWasOfSomebody = (connection: Statements, key: string): boolean =>
  isFormer(connection, key) ||
  connection.all('SELECT 1 FROM person_search_key WHERE key = ? LIMIT 1', key).length > 0;

export function sqlitePeople(file: Database): People {
  const recallVerifier = recalling<VerifiedPerson | undefined>(file);
  const find = (connection: Statements, column: 'id' | 'name', value: string) => {
    const [row] = connection.all<Row>(`SELECT record FROM person WHERE ${column} = ?`, value);
    return personFrom(row?.[0]);
  };

  const page = ({ list, ...range }: PeopleRange) =>
    file.read((connection) => {
      if (list === undefined) {
        const [clause, ...values] = inRange('name', range);
        return connection.all<Row>(`SELECT record FROM person ${clause}`, ...values).map(personOf);
      }
      const [clause, ...values] = inRange('kept.name', range);
      const query = `SELECT record FROM person_list AS kept JOIN person USING (id)
        ${clause.replace('WHERE', 'WHERE list = ? AND')}`;
      return connection.all<Row>(query, listText(list), ...values).map(personOf);
    });

  return {
    add: (person, verifiers = [], former = 'refused', together = {}) =>
      file.write((connection) => {
        if (taken(connection, person, verifiers)) return false;
        if (former === 'refused' && isFormer(connection, person.name)) return false;
        const { unshared, passkey } = together;
        if (unshared !== undefined && isOrWasOfSomebody(connection, unshared)) return false;
        if (passkey && hasPasskey(connection, passkey.id)) return false;
        const added = connection.run(
          'INSERT INTO person (id, name, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          person.id,
          person.name,
          JSON.stringify(person),
        );
        if (added === 0) return false;
        connection.run('DELETE FROM former_name WHERE digest = ?', formerName(person.name));
        setAliases(connection, person);
        setSearchKeys(connection, person);
        setLists(connection, person);
        setVerifiers(connection, person, verifiers);
        if (passkey) putPasskey(connection, passkey);
        return true;
      }),
    get: (id) => file.read((connection) => find(connection, 'id', id)),
    getByName: (name) => file.read((connection) => find(connection, 'name', name)),
    getByAlias: (alias) =>
      file.read((connection) => {
        const [row] = connection.all<Row>(
          'SELECT record FROM person_alias JOIN person USING (id) WHERE alias = ?',
          alias,
        );
        return personFrom(row?.[0]);
      }),
    search: (key) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT record FROM person_search_key JOIN person USING (id) WHERE key = ? LIMIT ${SLICE}`,
            key,
          )
          .map(personOf),
      ),
    getVerifier: (kind, realm, who) =>
      recallVerifier(JSON.stringify([kind, realm, who]), (connection) => {
        const [column, value] = 'name' in who ? ['name', who.name] : ['handle', who.handle];
        const [row] = connection.all<readonly [record: string, verifier: string]>(
          `SELECT record, value FROM person JOIN person_verifier USING (id)
           WHERE ${column} = ? AND realm = ? AND kind = ?`,
          value,
          realm,
          kind,
        );
        const person = personFrom(row?.[0]);
        return row && person && { person, value: row[1] };
      }),
    getWhole: (id) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const person = find(connection, 'id', id);
          const verifiers = connection
            .all<StoredVerifier>(
              'SELECT kind, realm, value, handle FROM person_verifier WHERE id = ?',
              id,
            )
            .map(verifierOf);
          return person && { person, verifiers };
        }),
      ),
    page,
    list: () => slices<PersonRecord>((last) => page({ after: last?.name, limit: SLICE })),
    replace: (person, verifiers) =>
      file.write((connection) => {
        const stored = find(connection, 'id', person.id);
        if (stored === undefined || stored.version !== person.version - 1) return false;
        if (taken(connection, person, verifiers ?? [])) return false;
        const named = { ...person, name: stored.name };
        connection.run(
          'UPDATE person SET record = ? WHERE id = ?',
          JSON.stringify(named),
          named.id,
        );
        setAliases(connection, person);
        setSearchKeys(connection, person);
        setLists(connection, named);
        if (verifiers !== undefined) setVerifiers(connection, person, verifiers);
        return true;
      }),
    remove: ({ id, version }) =>
      file.write((connection) => {
        const stored = find(connection, 'id', id);
        if (stored === undefined || stored.version !== version) return false;
        connection.run('DELETE FROM person WHERE id = ?', id);
        setAliases(connection, { id });
        setSearchKeys(connection, { id });
        connection.run('DELETE FROM person_list WHERE id = ?', id);
        setVerifiers(connection, { id }, []);
        for (const key of formerKeys(stored)) {
          connection.run('INSERT OR IGNORE INTO former_name (digest) VALUES (?)', formerName(key));
        }
        return true;
      }),
    isFormerName: (name) => file.read((connection) => isFormer(connection, name)),
  };
}
