import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import type { StoredTokenKey, TokenKeys } from '../../keys/token-keys.ts';
import type { Database } from '../file/file.ts';

/** In the table of generations. */
const RECALLS = 'token-keys';

export function sqliteTokenKeys(file: Database): TokenKeys {
  return {
    list: () =>
      file.read((connection) =>
        connection
          .all<[record: string]>('SELECT record FROM token_key ORDER BY seq')
          .map(([record]) => JSON.parse(record) as StoredTokenKey),
      ),
    add: (key, newest) =>
      file.write((connection) => {
        const [last] = connection.all<[id: string]>(
          'SELECT id FROM token_key WHERE type = ? ORDER BY seq DESC LIMIT 1',
          key.type,
        );
        if (last?.[0] !== newest) return 'late';
        const added = connection.run(
          `INSERT INTO token_key (type, truncated_id, id, record) VALUES (?, ?, ?, ?)
           ON CONFLICT DO NOTHING`,
          key.type,
          truncatedKeyId(Buffer.from(key.id, 'base64url')),
          key.id,
          JSON.stringify(key),
        );
        return added === 1 ? 'added' : 'collides';
      }),
    retire: async (type, id) =>
      void (await file.write((connection) =>
        connection.run(
          `UPDATE token_key SET record = json_remove(record, '$.sealed') WHERE type = ? AND id = ?`,
          type,
          id,
        ),
      )),
    recall: () =>
      file.write(
        (connection) =>
          void connection.run(
            `INSERT INTO generation (kind, id, generation) VALUES (?, '', 1)
             ON CONFLICT DO UPDATE SET generation = generation + 1`,
            RECALLS,
          ),
      ),
    recalls: () =>
      file.read(
        (connection) =>
          connection.all<[generation: number]>(
            'SELECT generation FROM generation WHERE kind = ?',
            RECALLS,
          )[0]?.[0] ?? 0,
      ),
    remove: async (type, id) =>
      void (await file.write((connection) =>
        connection.run('DELETE FROM token_key WHERE type = ? AND id = ?', type, id),
      )),
  };
}
