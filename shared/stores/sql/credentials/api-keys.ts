import type { ApiKeyPlace, ApiKeyRecord, ApiKeys } from '../../credentials/api-keys.ts';
import { changes, insertNew } from '../rows.ts';
import { type Database, MAKES_ROOM } from '../sql.ts';
import { usedKeys } from './used-keys.ts';

const ORDER = 'application, created, id';
const placeOf = ({ application, created_at, id }: ApiKeyPlace) => [application, created_at, id];

function endedAt(key: ApiKeyRecord, at: number): ApiKeyRecord {
  const { expires_at: end, planned = end === undefined ? {} : { at: end } } = key;
  return (end ?? Infinity) <= at ? key : { ...key, expires_at: at, planned };
}

export function sqlApiKeys(database: Database): ApiKeys {
  const { keys, edit, ...verbs } = usedKeys<ApiKeyRecord>(database, 'api_key');
  return {
    ...verbs,
    add: (key) =>
      database.write((sql) => {
        const { id, application, created_at: created } = key;
        const row = { id, application, created, record: JSON.stringify(key) };
        return insertNew(sql.last, 'api_key', row);
      }),
    page: ({ limit, after }) =>
      database.read((sql) => keys.page(sql, ORDER, after && placeOf(after), limit)),
    list: () => database.read((sql) => keys.all(sql, `ORDER BY ${ORDER}`)),
    replace: (key, was) =>
      changes(
        database,
        'UPDATE api_key SET application = ?, record = ? WHERE id = ? AND record = ?',
        key.application,
        JSON.stringify(key),
        key.id,
        JSON.stringify(was),
      ),
    expire: (id, at) => edit(id, (key) => endedAt(key, at), MAKES_ROOM),
  };
}
