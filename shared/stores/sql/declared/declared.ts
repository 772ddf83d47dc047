import type { Declared, DeclaredThing } from '../../declared/declared.ts';
import type { Database } from '../sql.ts';

type Row = readonly [kind: DeclaredThing['kind'], id: string];

export const sqlDeclared = (database: Database): Declared => ({
  add: async ({ kind, id }) =>
    void (await database.write((sql) =>
      sql.last.run(
        'INSERT INTO declared (kind, id) VALUES (?, ?) ON CONFLICT DO NOTHING',
        kind,
        id,
      ),
    )),
  list: () =>
    database.read(async (sql) => {
      const rows = await sql.all<Row>('SELECT kind, id FROM declared ORDER BY kind, id');
      return rows.map(([kind, id]) => ({ kind, id }));
    }),
  remove: async ({ kind, id }) =>
    void (await database.write((sql) =>
      sql.last.run('DELETE FROM declared WHERE kind = ? AND id = ?', kind, id),
    )),
});
