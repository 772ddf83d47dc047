import type { Clock } from '#shared/base/clock.ts';
import { type Push, type Receipt, RECEIPT_LIFE } from '../../push/push.ts';
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';
import { tell } from './news.ts';

/** Keeps what became of a message, if a receipt was asked for. The row gets a new place, behind what was told before. */
export function conclude(
  connection: Statements,
  message: string,
  outcome: Receipt['outcome'],
  now: number,
): void {
  const [row] = connection.all<[receipts: string]>(
    'DELETE FROM push_receipt WHERE message = ? RETURNING receipts',
    message,
  );
  if (row === undefined) return;
  connection.run(
    'INSERT INTO push_receipt (message, receipts, outcome, until) VALUES (?, ?, ?, ?)',
    message,
    row[0],
    outcome,
    Math.floor(now + RECEIPT_LIFE),
  );
  tell(connection, row[0], now);
}

export function hasReceipts(connection: Statements, id: string, now: number): boolean {
  const sql = 'SELECT 1 FROM push_receipts WHERE id = ? AND until > ?';
  return connection.all(sql, id, now).length === 1;
}

type Verbs = 'openReceipts' | 'hasReceipts' | 'closeReceipts' | 'receipts' | 'forgetReceipt';

export function sqliteReceipts(file: SqliteFile, clock: Clock): Pick<Push, Verbs> {
  return {
    openReceipts: ({ id, subscription, until }, most) =>
      file.write((connection) => {
        const there = 'SELECT 1 FROM push_subscription WHERE id = ?';
        if (connection.all(there, subscription).length === 0) return 'ended';
        const open = connection.all(
          'SELECT 1 FROM push_receipts WHERE subscription = ? AND until > ?',
          subscription,
          clock.now(),
        );
        if (open.length >= most) return 'full';
        connection.run(
          'INSERT INTO push_receipts (id, subscription, until) VALUES (?, ?, ?)',
          id,
          subscription,
          until,
        );
        return 'added';
      }),

    hasReceipts: (id) => file.read((connection) => hasReceipts(connection, id, clock.now())),

    closeReceipts: (id) =>
      file.write(
        (connection) => {
          const now = clock.now();
          const there = hasReceipts(connection, id, now);
          connection.run('DELETE FROM push_receipts WHERE id = ?', id);
          connection.run('DELETE FROM push_receipt WHERE receipts = ?', id);
          if (there) tell(connection, id, now);
          return there;
        },
        { makesRoom: true },
      ),

    receipts: (id, after, most) =>
      file.read((connection) =>
        connection
          .all<[message: string, outcome: Receipt['outcome'], place: number]>(
            `SELECT message, outcome, place FROM push_receipt
             WHERE receipts = ? AND place > ? AND outcome IS NOT NULL AND until > ?
             ORDER BY place LIMIT ?`,
            id,
            after,
            clock.now(),
            most,
          )
          .map(([message, outcome, place]) => ({ message, outcome, place })),
      ),

    forgetReceipt: (id, message) =>
      file.write((connection) => {
        connection.run(
          'DELETE FROM push_receipt WHERE message = ? AND receipts = ? AND outcome IS NOT NULL',
          message,
          id,
        );
      }),
  };
}
