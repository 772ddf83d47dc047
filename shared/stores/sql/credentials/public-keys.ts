import { used } from '../../credentials/last-use.ts';
import { APPLICATIONS, ownerText, signedOut } from '../../credentials/public-key-changes.ts';
import type { PublicKeyRecord, PublicKeys } from '../../credentials/public-keys.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Database, Sql } from '../sql.ts';

type Row = readonly [record: string];

const keyOf = ([record]: Row) => JSON.parse(record) as PublicKeyRecord;

const FIND = 'SELECT record FROM public_key WHERE id = ?';

async function find(sql: Sql, id: string): Promise<PublicKeyRecord | undefined> {
  const [row] = await sql.all<Row>(FIND, id);
  return row && keyOf(row);
}

export function sqlPublicKeys(database: Database): PublicKeys {
  const recall = database.recalling<PublicKeyRecord | undefined>();

  /** Resolves to false when there is no such key. `edit` returns the same object when nothing is to be written. */
  const change = (id: string, edit: (key: PublicKeyRecord) => PublicKeyRecord) =>
    database.write(async (sql) => {
      const [row] = await sql.lock<Row>(FIND, id);
      if (row === undefined) return false;
      const key = keyOf(row);
      const changed = edit(key);
      if (changed !== key) {
        await sql.run('UPDATE public_key SET record = ? WHERE id = ?', JSON.stringify(changed), id);
      }
      return true;
    });

  return {
    add: (key, most) =>
      database.write(async (sql) => {
        const { id, created_at } = key;
        const owner = ownerText(key.owner);
        await sql.lockNames([`public key ${id}`, `public keys of ${owner}`]);
        if ((await find(sql, id)) !== undefined) return 'taken';
        const theirs = await sql.all('SELECT 1 FROM public_key WHERE owner = ?', owner);
        if (theirs.length >= most) return 'full';
        await sql.run(
          'INSERT INTO public_key (id, owner, created, record) VALUES (?, ?, ?, ?)',
          id,
          owner,
          created_at,
          JSON.stringify(key),
        );
        return 'added';
      }),
    get: (id) => recall(id, (sql) => find(sql, id)),
    of: (owner) =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          'SELECT record FROM public_key WHERE owner = ? ORDER BY created, id',
          ownerText(owner),
        );
        return rows.map(keyOf);
      }),
    pageOfApplications: ({ limit, after }) =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          `SELECT record FROM public_key
           WHERE (owner, created, id) > (?, ?, ?) AND owner < ?
           ORDER BY owner, created, id LIMIT ?`,
          ...(after
            ? [ownerText(after.owner), after.created_at, after.id]
            : [APPLICATIONS.from, 0, '']),
          APPLICATIONS.before,
          limit,
        );
        return rows.map(keyOf);
      }),
    list: () =>
      slices<PublicKeyRecord>((last) =>
        database.read(async (sql) => {
          const rows = await sql.all<Row>(
            `SELECT record FROM public_key ${last ? 'WHERE (owner, created, id) > (?, ?, ?)' : ''}
             ORDER BY owner, created, id LIMIT ${SLICE}`,
            ...(last ? [ownerText(last.owner), last.created_at, last.id] : []),
          );
          return rows.map(keyOf);
        }),
      ),
    touch: async (id, at) => {
      // Most uses follow another within a minute: they ask, and wait for no disk.
      const key = await database.read((sql) => find(sql, id));
      if (key === undefined || used(key, at) === key) return;
      await change(id, (current) => used(current, at));
    },
    signOut: (id, at) => change(id, (key) => signedOut(key, at)),
    remove: (id) =>
      database.write(
        async (sql) => (await sql.last.run('DELETE FROM public_key WHERE id = ?', id)) === 1,
      ),
  };
}
