import type { Change, DocumentRow, Documents, Expected } from '../documents.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';

type Row = { [Member in keyof DocumentRow]: DocumentRow[Member] };

const COLUMNS = 'path, etag, type, length, modified, file';

export function sqliteDocuments(file: SqliteFile): Documents {
  const find = (connection: Connection, space: string, path: string): DocumentRow | undefined =>
    connection.all<Row>(
      `SELECT ${COLUMNS} FROM document WHERE space = ? AND path = ?`,
      space,
      path,
    )[0];

  /** Changes the row if it is as expected; read and change are one transaction. */
  const change = (
    space: string,
    path: string,
    expected: Expected,
    apply: (connection: Connection) => void,
  ): Promise<Change> =>
    file.write((connection) => {
      const before = find(connection, space, path);
      const met =
        expected === 'any' ||
        (expected === 'absent' ? before === undefined : before?.etag === expected.etag);
      if (!met) return { kind: 'conflict', current: before };
      apply(connection);
      return { kind: 'changed', before };
    });

  return {
    get: (space, path) => file.read((connection) => find(connection, space, path)),
    put: (space, row, expected) =>
      change(space, row.path, expected, (connection) =>
        connection.run(
          `INSERT OR REPLACE INTO document (space, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          space,
          row.path,
          row.etag,
          row.type,
          row.length,
          row.modified,
          row.file,
        ),
      ),
    remove: (space, path, expected) =>
      change(space, path, expected, (connection) =>
        connection.run('DELETE FROM document WHERE space = ? AND path = ?', space, path),
      ),
    list: (space, prefix) =>
      file.read((connection) =>
        connection.all<Row>(
          `SELECT ${COLUMNS} FROM document
           WHERE space = ?1 AND path >= ?2 AND substr(path, 1, length(?2)) = ?2 ORDER BY path`,
          space,
          prefix,
        ),
      ),
  };
}
