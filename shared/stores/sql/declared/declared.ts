import type { Declared, DeclaredThing } from '../../declared/declared.ts';
import { change, insertNew, objects } from '../rows.ts';
import type { Database } from '../sql.ts';

export const sqlDeclared = (database: Database): Declared => ({
  add: async ({ kind, id }) =>
    void (await database.write((sql) => insertNew(sql.last, 'declared', { kind, id }))),
  list: () =>
    database.read((sql) =>
      objects<DeclaredThing>(sql, 'kind, id', 'FROM declared ORDER BY kind, id'),
    ),
  remove: ({ kind, id }) =>
    change(database, 'DELETE FROM declared WHERE kind = ? AND id = ?', kind, id),
});
