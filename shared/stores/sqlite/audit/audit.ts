import {
  type Audit,
  type AuditLink,
  type AuditRow,
  MOST_ENTRIES,
  type RefusalCount,
} from '../../audit/audit.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';

type LinkRow = [
  number: number,
  before: string,
  first: number,
  last: number,
  at: number,
  oldest: number,
  mac: string,
];

const LINK = 'SELECT number, before, first, last, at, oldest, mac FROM audit_link';

const linkOf = ([number, before, first, last, at, oldest, mac]: LinkRow): AuditLink => ({
  number,
  before,
  first,
  last,
  at,
  oldest,
  mac,
});

/** Within a transaction. */
export function appendEntries(connection: Statements, texts: readonly string[]): void {
  for (const text of texts) connection.run('INSERT INTO audit_open (text) VALUES (?)', text);
}

export function sqliteAudit(file: Database): Audit {
  const head = (connection: Statements): AuditLink | undefined => {
    const [row] = connection.all<LinkRow>(`${LINK} ORDER BY number DESC LIMIT 1`);
    return row && linkOf(row);
  };

  return {
    append: (...texts) => file.write((connection) => appendEntries(connection, texts)),

    appendRefusal: ({ hour, person }, most, text) =>
      file.write((connection) => {
        connection.run(
          `INSERT INTO audit_refusal (hour, person, count) VALUES (?, ?, 1)
           ON CONFLICT (hour, person) DO UPDATE SET count = count + 1`,
          hour,
          person,
        );
        const sql = 'SELECT count FROM audit_refusal WHERE hour = ? AND person = ?';
        const [[count] = [0]] = connection.all<[count: number]>(sql, hour, person);
        if (count <= most) appendEntries(connection, [text]);
      }),

    takeTurn: async () => true,

    refusals: (hour) =>
      file.read((connection) =>
        connection
          .all<[hour: number, person: string, count: number]>(
            `SELECT hour, person, count FROM audit_refusal WHERE hour < ? LIMIT ${MOST_ENTRIES}`,
            hour,
          )
          .map(([of, person, count]): RefusalCount => ({ hour: of, person, count })),
      ),

    settleRefusal: ({ hour, person }, text) =>
      file.write((connection) => {
        const sql = 'DELETE FROM audit_refusal WHERE hour = ? AND person = ?';
        if (connection.run(sql, hour, person) === 0) return false;
        if (text !== undefined) appendEntries(connection, [text]);
        return true;
      }),

    open: () =>
      file.read((connection) =>
        connection.snapshot(() => {
          const rows = connection.all<[seq: number, text: string]>(
            `SELECT seq, text FROM audit_open ORDER BY seq LIMIT ${MOST_ENTRIES}`,
          );
          return {
            texts: rows.map(([, text]) => text),
            upTo: String(rows.at(-1)?.[0] ?? 0),
            head: head(connection),
          };
        }),
      ),

    close: (link, rows, upTo) =>
      file.write((connection) => {
        if ((head(connection)?.number ?? 0) !== link.number - 1) return false;
        const { number, before, first, last, at, oldest, mac } = link;
        const sql =
          'INSERT INTO audit_link (number, before, first, last, at, oldest, mac) VALUES (?, ?, ?, ?, ?, ?, ?)';
        connection.run(sql, number, before, first, last, at, oldest, mac);
        for (const { seq, text, keys } of rows) {
          connection.run('INSERT INTO audit (seq, text) VALUES (?, ?)', seq, text);
          for (const key of keys) {
            connection.run('INSERT INTO audit_key (key, seq) VALUES (?, ?)', key, seq);
          }
        }
        connection.run('DELETE FROM audit_open WHERE seq <= ?', Number(upTo));
        return true;
      }),

    rows: ({ key, first, last, newestFirst }, count) =>
      file.read((connection) => {
        const order = `ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`;
        const found =
          key === undefined
            ? connection.all<[seq: number, text: string]>(
                `SELECT seq, text FROM audit WHERE seq BETWEEN ? AND ? ${order}`,
                first,
                last,
                count,
              )
            : connection.all<[seq: number, text: string]>(
                `SELECT seq, text FROM audit_key JOIN audit USING (seq)
                 WHERE key = ? AND seq BETWEEN ? AND ? ${order}`,
                key,
                first,
                last,
                count,
              );
        return found.map(([seq, text]): AuditRow => ({ seq, text }));
      }),

    links: (from, count) =>
      file.read((connection) => {
        if (from !== undefined) {
          const sql = `${LINK} WHERE number >= ? ORDER BY number LIMIT ?`;
          return connection.all<LinkRow>(sql, from, count).map(linkOf);
        }
        const last = head(connection);
        return last ? [last] : [];
      }),

    linkAt: (at) =>
      file.read((connection) => {
        const sql = `${LINK} WHERE at >= ? ORDER BY at, number LIMIT 1`;
        const [row] = connection.all<LinkRow>(sql, at);
        return row && linkOf(row);
      }),

    end: ({ number }, rows) =>
      file.write(
        (connection) => {
          connection.run('DELETE FROM audit_link WHERE number = ?', number);
          for (const { seq, keys } of rows) {
            connection.run('DELETE FROM audit WHERE seq = ?', seq);
            for (const key of keys) {
              connection.run('DELETE FROM audit_key WHERE key = ? AND seq = ?', key, seq);
            }
          }
        },
        { makesRoom: true },
      ),
  };
}
