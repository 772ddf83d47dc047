import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import type { StoredTokenKey, TokenKeys } from '../../keys/token-keys.ts';
import { raise, generationOf } from '../revocation/generations.ts';
import { change, insertNew, recordsIn } from '../rows.ts';
import { type Database, MAKES_ROOM } from '../sql.ts';

/** The row of the table of generations. */
const RECALLS = ['token-keys', ''] as const;

const keys = recordsIn<StoredTokenKey>('token_key');

export function sqlTokenKeys(database: Database): TokenKeys {
  return {
    list: () => database.read((sql) => keys.all(sql, 'ORDER BY seq')),
    add: (key, newest) =>
      database.write(async (sql) => {
        const { type, id } = key;
        await sql.lockNames([`token keys ${type}`]);
        const last = await keys.find(sql, 'WHERE type = ? ORDER BY seq DESC LIMIT 1', type);
        if (last?.id !== newest) return 'late';
        const truncated_id = truncatedKeyId(Buffer.from(id, 'base64url'));
        const row = { type, truncated_id, id, record: JSON.stringify(key) };
        return (await insertNew(sql.last, 'token_key', row)) ? 'added' : 'collides';
      }),
    retire: (type, id) =>
      database.write(async (sql) => {
        const key = await keys.lock(sql, 'WHERE type = ? AND id = ?', type, id);
        if (key === undefined) return;
        const { sealed: _, ...retired } = key;
        const text = 'UPDATE token_key SET record = ? WHERE type = ? AND id = ?';
        await sql.last.run(text, JSON.stringify(retired), type, id);
      }, MAKES_ROOM),
    recall: async () =>
      void (await database.write((sql) => raise(sql.last, ...RECALLS), MAKES_ROOM)),
    recalls: () => database.read((sql) => generationOf(sql, ...RECALLS)),
    remove: (type, id) =>
      change(database, 'DELETE FROM token_key WHERE type = ? AND id = ?', type, id),
  };
}
