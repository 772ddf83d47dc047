import { used } from '../../credentials/last-use.ts';
import { APPLICATIONS, ownerText, signedOut } from '../../credentials/public-key-changes.ts';
import type { PublicKeyRecord, PublicKeys } from '../../credentials/public-keys.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';
import { recalling } from '../file/recalled.ts';

type Row = readonly [record: string];

const keyOf = ([record]: Row) => JSON.parse(record) as PublicKeyRecord;

export function sqlitePublicKeys(file: Database): PublicKeys {
  const recall = recalling<PublicKeyRecord | undefined>(file);
  const find = (connection: Statements, id: string) => {
    const [row] = connection.all<Row>('SELECT record FROM public_key WHERE id = ?', id);
    return row && keyOf(row);
  };

  /** False when there is no such key. `edit` returns the same object when nothing is to be written. */
  const change = (
    connection: Statements,
    id: string,
    edit: (key: PublicKeyRecord) => PublicKeyRecord,
  ): boolean => {
    const key = find(connection, id);
    if (key === undefined) return false;
    const changed = edit(key);
    if (changed !== key) {
      connection.run('UPDATE public_key SET record = ? WHERE id = ?', JSON.stringify(changed), id);
    }
    return true;
  };

  return {
    add: (key, most) =>
      file.write((connection) => {
        const { id, created_at } = key;
        if (find(connection, id) !== undefined) return 'taken';
        const owner = ownerText(key.owner);
        const theirs = connection.all('SELECT 1 FROM public_key WHERE owner = ?', owner);
        if (theirs.length >= most) return 'full';
        connection.run(
          'INSERT INTO public_key (id, owner, created, record) VALUES (?, ?, ?, ?)',
          id,
          owner,
          created_at,
          JSON.stringify(key),
        );
        return 'added';
      }),
    get: (id) => recall(id, (connection) => find(connection, id)),
    of: (owner) =>
      file.read((connection) =>
        connection
          .all<Row>(
            'SELECT record FROM public_key WHERE owner = ? ORDER BY created, id',
            ownerText(owner),
          )
          .map(keyOf),
      ),
    pageOfApplications: ({ limit, after }) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT record FROM public_key
             WHERE (owner, created, id) > (?, ?, ?) AND owner < ?
             ORDER BY owner, created, id LIMIT ?`,
            ...(after
              ? [ownerText(after.owner), after.created_at, after.id]
              : [APPLICATIONS.from, 0, '']),
            APPLICATIONS.before,
            limit,
          )
          .map(keyOf),
      ),
    list: () =>
      slices<PublicKeyRecord>((last) =>
        file.read((connection) =>
          connection
            .all<Row>(
              `SELECT record FROM public_key ${last ? 'WHERE (owner, created, id) > (?, ?, ?)' : ''}
               ORDER BY owner, created, id LIMIT ${SLICE}`,
              ...(last ? [ownerText(last.owner), last.created_at, last.id] : []),
            )
            .map(keyOf),
        ),
      ),
    touch: async (id, at) => {
      // Most uses follow another within a minute: they ask, and wait for no disk.
      const key = await file.read((connection) => find(connection, id));
      if (key === undefined || used(key, at) === key) return;
      await file.write((connection) => change(connection, id, (current) => used(current, at)));
    },
    signOut: (id, at) =>
      file.write((connection) => change(connection, id, (key) => signedOut(key, at))),
    remove: (id) =>
      file.write((connection) => connection.run('DELETE FROM public_key WHERE id = ?', id) === 1),
  };
}
