import type { Declared, DeclaredThing } from '../../declared/declared.ts';
import { change, insertNew } from '../rows.ts';
import type { Database } from '../sql.ts';

type Row = readonly [kind: DeclaredThing['kind'], id: string];

export const sqlDeclared = (database: Database): Declared => ({
  add: async ({ kind, id }) =>
    void (await database.write((sql) => insertNew(sql.last, 'declared', { kind, id }))),
  list: () =>
    database.read(async (sql) => {
      const rows = await sql.all<Row>('SELECT kind, id FROM declared ORDER BY kind, id');
      return rows.map(([kind, id]) => ({ kind, id }));
    }),
  remove: ({ kind, id }) =>
    change(database, 'DELETE FROM declared WHERE kind = ? AND id = ?', kind, id),
});
