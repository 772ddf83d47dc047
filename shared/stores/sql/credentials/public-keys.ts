import type { KeyOwner, PublicKeyRecord, PublicKeys } from '../../credentials/public-keys.ts';
import { insert } from '../rows.ts';
import { type Database, MAKES_ROOM } from '../sql.ts';
import { usedKeys } from './used-keys.ts';

const ORDER = 'owner, created, id';

/** The text that names an owner. No such text is a prefix of another. */
const ownerText = ({ kind, id }: KeyOwner): string => JSON.stringify([kind, id]);

/** The range of the texts of applications: from the first of these, and before the second. */
const APPLICATIONS = ['["application",', '["application"-'] as const;

const placeOf = ({ owner, created_at, id }: Pick<PublicKeyRecord, 'owner' | 'created_at' | 'id'>) =>
  [ownerText(owner), created_at, id] as const;

export function sqlPublicKeys(database: Database): PublicKeys {
  const { keys, edit, ...verbs } = usedKeys<PublicKeyRecord>(database, 'public_key');
  return {
    ...verbs,
    add: (key, most) =>
      database.write(async (sql) => {
        const { id, created_at: created } = key;
        const owner = ownerText(key.owner);
        await sql.lockNames([`public key ${id}`, `public keys of ${owner}`]);
        if ((await keys.find(sql, 'WHERE id = ?', id)) !== undefined) return 'taken';
        if ((await keys.all(sql, 'WHERE owner = ?', owner)).length >= most) return 'full';
        await insert(sql, 'public_key', { id, owner, created, record: JSON.stringify(key) });
        return 'added';
      }),
    of: (owner) =>
      database.read((sql) =>
        keys.all(sql, 'WHERE owner = ? ORDER BY created, id', ownerText(owner)),
      ),
    pageOfApplications: ({ limit, after }) =>
      database.read((sql) =>
        keys.all(
          sql,
          `WHERE (${ORDER}) > (?, ?, ?) AND owner < ? ORDER BY ${ORDER} LIMIT ?`,
          ...(after ? placeOf(after) : [APPLICATIONS[0], 0, '']),
          APPLICATIONS[1],
          limit,
        ),
      ),
    list: () => keys.slices(database, ORDER, placeOf),
    signOut: (id, at) =>
      edit(
        id,
        (key) => ((key.signed_out_at ?? -Infinity) >= at ? key : { ...key, signed_out_at: at }),
        MAKES_ROOM,
      ),
  };
}
