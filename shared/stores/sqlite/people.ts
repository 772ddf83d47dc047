import type { People, PersonRecord } from '../people.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';

type Row = { record: string };

const personOf = (row: Row) => JSON.parse(row.record) as PersonRecord;

/** Whether somebody else has one of the person's aliases. */
const taken = (connection: Connection, { id, aliases = [] }: PersonRecord): boolean =>
  aliases.some(
    (alias) =>
      connection.all('SELECT 1 FROM person_alias WHERE alias = ? AND id <> ?', alias, id).length >
      0,
  );

const setAliases = (connection: Connection, { id, aliases = [] }: PersonRecord): void => {
  connection.run('DELETE FROM person_alias WHERE id = ?', id);
  for (const alias of new Set(aliases)) {
    connection.run('INSERT INTO person_alias (alias, id) VALUES (?, ?)', alias, id);
  }
};

export function sqlitePeople(file: SqliteFile): People {
  const find = (connection: Connection, column: 'id' | 'name', value: string) => {
    const [row] = connection.all<Row>(`SELECT record FROM person WHERE ${column} = ?`, value);
    return row && personOf(row);
  };

  return {
    add: (person) =>
      file.write((connection) => {
        if (taken(connection, person)) return false;
        const added = connection.run(
          'INSERT INTO person (id, name, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
          person.id,
          person.name,
          JSON.stringify(person),
        );
        if (added === 0) return false;
        setAliases(connection, person);
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
    list: () =>
      file.read((connection) =>
        connection.all<Row>('SELECT record FROM person ORDER BY name').map(personOf),
      ),
    replace: (person) =>
      file.write((connection) => {
        const stored = find(connection, 'id', person.id);
        if (stored === undefined || stored.version !== person.version - 1) return false;
        if (taken(connection, person)) return false;
        connection.run(
          'UPDATE person SET record = ? WHERE id = ?',
          JSON.stringify({ ...person, name: stored.name }),
          person.id,
        );
        setAliases(connection, person);
        return true;
      }),
  };
}
