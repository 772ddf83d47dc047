import type { Outbox, OutboxMessage } from '../../mail/outbox.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';

type Row = readonly [record: string, attempts: number];

export function sqliteOutbox(file: Database): Outbox {
  const due = (connection: Statements, now: number, count: number) =>
    connection.all<Row>(
      'SELECT record, attempts FROM outbox WHERE due <= ? ORDER BY due, id LIMIT ?',
      now,
      count,
    );

  return {
    add: (message) =>
      file.write((connection) => {
        const there = 'SELECT 1 FROM outbox WHERE id = ?';
        if (connection.all(there, message.id).length > 0) return false;
        connection.run(
          'INSERT INTO outbox (id, due, attempts, record) VALUES (?, ?, 0, ?)',
          message.id,
          message.due ?? message.created_at,
          JSON.stringify(message),
        );
        return true;
      }),

    takeTurn: () => file.read(() => true),

    async take(now, until, count) {
      // Most of the time none is due: that needs no turn to write.
      if ((await file.read((connection) => due(connection, now, 1))).length === 0) return [];
      return file.write((connection) =>
        due(connection, now, count).map(([record, attempts]) => {
          const message = JSON.parse(record) as OutboxMessage;
          connection.run(
            'UPDATE outbox SET due = ?, attempts = attempts + 1 WHERE id = ?',
            until,
            message.id,
          );
          return Object.assign(message, { attempt: attempts + 1 });
        }),
      );
    },

    postpone: (id, at) =>
      file.write((connection) => {
        connection.run('UPDATE outbox SET due = ? WHERE id = ?', at, id);
      }),

    remove: (id) =>
      file.write(
        (connection) => {
          connection.run('DELETE FROM outbox WHERE id = ?', id);
        },
        { makesRoom: true },
      ),
  };
}
