import type { DigestPerson, DigestRow, People, PersonRecord } from '../people.ts';
import { SLICE, slices } from '../slices.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';

type Row = { record: string };

const personOf = (row: Row) => JSON.parse(row.record) as PersonRecord;

/** Whether somebody else has one of the person's aliases or userhashes. */
const taken = (
  connection: Connection,
  { id, aliases = [] }: PersonRecord,
  digests: readonly DigestRow[],
): boolean =>
  aliases.some(
    (alias) =>
      connection.all('SELECT 1 FROM person_alias WHERE alias = ? AND id <> ?', alias, id).length >
      0,
  ) ||
  digests.some(
    ({ userhash, realm, hash }) =>
      connection.all(
        'SELECT 1 FROM person_digest WHERE userhash = ? AND realm = ? AND hash = ? AND id <> ?',
        userhash,
        realm,
        hash,
        id,
      ).length > 0,
  );

const setAliases = (connection: Connection, { id, aliases = [] }: PersonRecord): void => {
  connection.run('DELETE FROM person_alias WHERE id = ?', id);
  for (const alias of new Set(aliases)) {
    connection.run('INSERT INTO person_alias (alias, id) VALUES (?, ?)', alias, id);
  }
};

const setDigests = (
  connection: Connection,
  { id }: PersonRecord,
  digests: readonly DigestRow[],
): void => {
  connection.run('DELETE FROM person_digest WHERE id = ?', id);
  for (const { realm, hash, ha1, userhash } of digests) {
    connection.run(
      'INSERT INTO person_digest (id, realm, hash, ha1, userhash) VALUES (?, ?, ?, ?, ?)',
      id,
      realm,
      hash,
      ha1,
      userhash,
    );
  }
};

export function sqlitePeople(file: SqliteFile): People {
  const find = (connection: Connection, column: 'id' | 'name', value: string) => {
    const [row] = connection.all<Row>(`SELECT record FROM person WHERE ${column} = ?`, value);
    return row && personOf(row);
  };

  return {
    add: (person, digests = []) =>
      file.write((connection) => {
        if (taken(connection, person, digests)) return false;
        const added = connection.run(
          'INSERT INTO person (id, name, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          person.id,
          person.name,
          JSON.stringify(person),
        );
        if (added === 0) return false;
        setAliases(connection, person);
        setDigests(connection, person, digests);
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
        return row && personOf(row);
      }),
    getDigest: (realm, hash, who) =>
      file.read((connection): DigestPerson | undefined => {
        const [column, value] = 'name' in who ? ['name', who.name] : ['userhash', who.userhash];
        const [row] = connection.all<Row & { ha1: string }>(
          `SELECT record, ha1 FROM person JOIN person_digest USING (id)
           WHERE ${column} = ? AND realm = ? AND hash = ?`,
          value,
          realm,
          hash,
        );
        return row && { person: personOf(row), ha1: row.ha1 };
      }),
    getWhole: (id) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const person = find(connection, 'id', id);
          const digests = connection.all<{ [member in keyof DigestRow]: DigestRow[member] }>(
            'SELECT realm, hash, ha1, userhash FROM person_digest WHERE id = ?',
            id,
          );
          return person && { person, digests };
        }),
      ),
    list: () =>
      slices<PersonRecord>((last) =>
        file.read((connection) =>
          connection
            .all<Row>(
              `SELECT record FROM person ${last ? 'WHERE name > ?' : ''} ORDER BY name LIMIT ${SLICE}`,
              ...(last ? [last.name] : []),
            )
            .map(personOf),
        ),
      ),
    replace: (person, digests) =>
      file.write((connection) => {
        const stored = find(connection, 'id', person.id);
        if (stored === undefined || stored.version !== person.version - 1) return false;
        if (taken(connection, person, digests ?? [])) return false;
        connection.run(
          'UPDATE person SET record = ? WHERE id = ?',
          JSON.stringify({ ...person, name: stored.name }),
          person.id,
        );
        setAliases(connection, person);
        if (digests !== undefined) setDigests(connection, person, digests);
        return true;
      }),
  };
}
