import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import type { StoredTokenKey, TokenKeys } from '../../keys/token-keys.ts';
import type { Database } from '../sql.ts';

/** In the table of generations. */
const RECALLS = 'token-keys';

type Row = readonly [record: string];

const keyOf = ([record]: Row) => JSON.parse(record) as StoredTokenKey;

export function sqlTokenKeys(database: Database): TokenKeys {
  return {
    list: () =>
      database.read(async (sql) =>
        (await sql.all<Row>('SELECT record FROM token_key ORDER BY seq')).map(keyOf),
      ),
    add: (key, newest) =>
      database.write(async (sql) => {
        await sql.lockNames([`token keys ${key.type}`]);
        const [last] = await sql.all<[id: string]>(
          'SELECT id FROM token_key WHERE type = ? ORDER BY seq DESC LIMIT 1',
          key.type,
        );
        if (last?.[0] !== newest) return 'late';
        const added = await sql.last.run(
          `INSERT INTO token_key (type, truncated_id, id, record) VALUES (?, ?, ?, ?)
           ON CONFLICT DO NOTHING`,
          key.type,
          truncatedKeyId(Buffer.from(key.id, 'base64url')),
          key.id,
          JSON.stringify(key),
        );
        return added === 1 ? 'added' : 'collides';
      }),
    retire: (type, id) =>
      database.write(async (sql) => {
        const [row] = await sql.lock<Row>(
          'SELECT record FROM token_key WHERE type = ? AND id = ?',
          type,
          id,
        );
        if (row === undefined) return;
        const { sealed: _, ...retired } = keyOf(row);
        await sql.last.run(
          'UPDATE token_key SET record = ? WHERE type = ? AND id = ?',
          JSON.stringify(retired),
          type,
          id,
        );
      }),
    recall: async () =>
      void (await database.write((sql) =>
        sql.last.run(
          `INSERT INTO generation (kind, id, generation) VALUES (?, '', 1)
           ON CONFLICT (kind, id) DO UPDATE SET generation = generation.generation + 1`,
          RECALLS,
        ),
      )),
    recalls: () =>
      database.read(async (sql) => {
        const [row] = await sql.all<[generation: number]>(
          "SELECT generation FROM generation WHERE kind = ? AND id = ''",
          RECALLS,
        );
        return row?.[0] ?? 0;
      }),
    remove: async (type, id) =>
      void (await database.write((sql) =>
        sql.last.run('DELETE FROM token_key WHERE type = ? AND id = ?', type, id),
      )),
  };
}
