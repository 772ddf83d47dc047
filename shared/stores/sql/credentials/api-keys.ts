import { byApplicationThenAge, ended } from '../../credentials/api-key-changes.ts';
import type { ApiKeyRecord, ApiKeys } from '../../credentials/api-keys.ts';
import { used } from '../../credentials/last-use.ts';
import type { Database, Sql } from '../sql.ts';

type Row = readonly [record: string];

const keyOf = ([record]: Row) => JSON.parse(record) as ApiKeyRecord;

const FIND = 'SELECT record FROM api_key WHERE id = ?';
const UPDATE = 'UPDATE api_key SET application = ?, record = ? WHERE id = ?';

async function find(sql: Sql, id: string): Promise<ApiKeyRecord | undefined> {
  const [row] = await sql.all<Row>(FIND, id);
  return row && keyOf(row);
}

export function sqlApiKeys(database: Database): ApiKeys {
  const recall = database.recalling<ApiKeyRecord | undefined>();

  /** Resolves to false when there is no such key. `edit` returns the same object when nothing is to be written. */
  const change = (id: string, edit: (key: ApiKeyRecord) => ApiKeyRecord) =>
    database.write(async (sql) => {
      const [row] = await sql.lock<Row>(FIND, id);
      if (row === undefined) return false;
      const key = keyOf(row);
      const changed = edit(key);
      if (changed !== key) {
        await sql.run(UPDATE, changed.application, JSON.stringify(changed), id);
      }
      return true;
    });

  return {
    add: (key) =>
      database.write(
        async (sql) =>
          (await sql.last.run(
            `INSERT INTO api_key (id, application, created, record) VALUES (?, ?, ?, ?)
             ON CONFLICT DO NOTHING`,
            key.id,
            key.application,
            key.created_at,
            JSON.stringify(key),
          )) === 1,
      ),
    get: (id) => recall(id, (sql) => find(sql, id)),
    page: ({ limit, after }) =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          `SELECT record FROM api_key ${after ? 'WHERE (application, created, id) > (?, ?, ?)' : ''}
           ORDER BY application, created, id LIMIT ?`,
          ...(after ? [after.application, after.created_at, after.id] : []),
          limit,
        );
        return rows.map(keyOf);
      }),
    list: () =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>('SELECT record FROM api_key');
        return rows.map(keyOf).toSorted(byApplicationThenAge);
      }),
    replace: (key, was) =>
      database.write(
        async (sql) =>
          (await sql.last.run(
            `${UPDATE} AND record = ?`,
            key.application,
            JSON.stringify(key),
            key.id,
            JSON.stringify(was),
          )) === 1,
      ),
    expire: (id, at) => change(id, (key) => ended(key, at)),
    touch: async (id, at) => {
      // Most uses follow another within a minute: they ask, and wait for no disk.
      const key = await database.read((sql) => find(sql, id));
      if (key === undefined || used(key, at) === key) return;
      await change(id, (current) => used(current, at));
    },
    remove: (id) =>
      database.write(
        async (sql) => (await sql.last.run('DELETE FROM api_key WHERE id = ?', id)) === 1,
      ),
  };
}
