import { byApplicationThenAge, ended } from '../../credentials/api-key-changes.ts';
import type { ApiKeyRecord, ApiKeys } from '../../credentials/api-keys.ts';
import { used } from '../../credentials/last-use.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';
import { recalling } from '../file/recalled.ts';

/** The order of pages, which has an index. */
const PLACE = "record ->> '$.application', record ->> '$.created_at', id";

type Row = readonly [record: string];

const keyOf = ([record]: Row) => JSON.parse(record) as ApiKeyRecord;

export function sqliteApiKeys(file: Database): ApiKeys {
  const recall = recalling<ApiKeyRecord | undefined>(file);
  const find = (connection: Statements, id: string) => {
    const [row] = connection.all<Row>('SELECT record FROM api_key WHERE id = ?', id);
    return row && keyOf(row);
  };

  /** False when there is no such key. `edit` returns the same object when nothing is to be written. */
  const change = (
    connection: Statements,
    id: string,
    edit: (key: ApiKeyRecord) => ApiKeyRecord,
  ): boolean => {
    const key = find(connection, id);
    if (key === undefined) return false;
    const changed = edit(key);
    if (changed !== key) {
      connection.run('UPDATE api_key SET record = ? WHERE id = ?', JSON.stringify(changed), id);
    }
    return true;
  };

  return {
    add: (key) =>
      file.write(
        (connection) =>
          connection.run(
            'INSERT INTO api_key (id, record) VALUES (?, ?) ON CONFLICT DO NOTHING',
            key.id,
            JSON.stringify(key),
          ) === 1,
      ),
    get: (id) => recall(id, (connection) => find(connection, id)),
    page: ({ limit, after }) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT record FROM api_key ${after ? `WHERE (${PLACE}) > (?, ?, ?)` : ''} ORDER BY ${PLACE} LIMIT ?`,
            ...(after ? [after.application, after.created_at, after.id] : []),
            limit,
          )
          .map(keyOf),
      ),
    list: () =>
      file.read((connection) =>
        connection.all<Row>('SELECT record FROM api_key').map(keyOf).toSorted(byApplicationThenAge),
      ),
    replace: (key, was) =>
      file.write(
        (connection) =>
          connection.run(
            'UPDATE api_key SET record = ? WHERE id = ? AND record = ?',
            JSON.stringify(key),
            key.id,
            JSON.stringify(was),
          ) === 1,
      ),
    expire: (id, at) => file.write((connection) => change(connection, id, (key) => ended(key, at))),
    touch: async (id, at) => {
      // Most uses follow another within a minute: they ask, and wait for no disk.
      const key = await file.read((connection) => find(connection, id));
      if (key === undefined || used(key, at) === key) return;
      await file.write((connection) => change(connection, id, (current) => used(current, at)));
    },
    remove: (id) =>
      file.write((connection) => connection.run('DELETE FROM api_key WHERE id = ?', id) === 1),
  };
}
