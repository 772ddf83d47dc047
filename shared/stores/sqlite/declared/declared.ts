import type { Declared, DeclaredThing } from '../../declared/declared.ts';
import type { Database } from '../file/file.ts';

type Row = readonly [kind: DeclaredThing['kind'], id: string];

export const sqliteDeclared = (file: Database): Declared => ({
  add: ({ kind, id }) =>
    file.write((connection) => {
      connection.run('INSERT OR IGNORE INTO declared (kind, id) VALUES (?, ?)', kind, id);
    }),
  list: () =>
    file.read((connection) =>
      connection
        .all<Row>('SELECT kind, id FROM declared ORDER BY kind, id')
        .map(([kind, id]) => ({ kind, id })),
    ),
  remove: ({ kind, id }) =>
    file.write((connection) => {
      connection.run('DELETE FROM declared WHERE kind = ? AND id = ?', kind, id);
    }),
});
