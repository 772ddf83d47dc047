import type { People, PersonRecord } from '../people.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';

type Row = { record: string };

const personOf = (row: Row) => JSON.parse(row.record) as PersonRecord;

export function sqlitePeople(file: SqliteFile): People {
  const find = (connection: Connection, column: 'id' | 'name', value: string) => {
    const [row] = connection.all<Row>(`SELECT record FROM person WHERE ${column} = ?`, value);
    return row && personOf(row);
  };

  return {
    add: (person) =>
      file.write(
        (connection) =>
          connection.run(
            'INSERT INTO person (id, name, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
            person.id,
            person.name,
            JSON.stringify(person),
          ) === 1,
      ),
    get: (id) => file.read((connection) => find(connection, 'id', id)),
    getByName: (name) => file.read((connection) => find(connection, 'name', name)),
    list: () =>
      file.read((connection) =>
        connection.all<Row>('SELECT record FROM person ORDER BY name').map(personOf),
      ),
    replace: (person) =>
      file.write((connection) => {
        const stored = find(connection, 'id', person.id);
        if (stored === undefined || stored.version !== person.version - 1) return false;
        connection.run(
          'UPDATE person SET record = ? WHERE id = ?',
          JSON.stringify({ ...person, name: stored.name }),
          person.id,
        );
        return true;
      }),
  };
}
