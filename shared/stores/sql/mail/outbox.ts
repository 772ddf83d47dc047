import { MOST_OF_PERSON, type Outbox, type OutboxMessage } from '../../mail/outbox.ts';
import type { Moments } from '../moments.ts';
import { change, insertNew } from '../rows.ts';
import type { Database } from '../sql.ts';

type Row = readonly [record: string, attempts: number];

const DUE = 'SELECT record, attempts FROM outbox WHERE due <= ? ORDER BY due, id LIMIT ?';

export function sqlOutbox(database: Database, { toShared }: Moments): Outbox {
  return {
    add: (message) =>
      database.write((sql) => {
        const due = toShared(message.due ?? message.created_at);
        const { id, accountId: account_id } = message;
        const row = { id, due, attempts: 0, account_id, record: JSON.stringify(message) };
        return insertNew(sql.last, 'outbox', row);
      }),

    async take(callers, until, count) {
      const now = toShared(callers);
      // Mostly no message is due, so a read comes first, which needs no turn to write.
      const some = await database.read((sql) => sql.all(DUE, now, 1));
      if (some.length === 0) return [];
      return database.write(async (sql) => {
        const taken = [];
        for (const [record, attempts] of await sql.lock<Row>(DUE, now, count)) {
          const message = JSON.parse(record) as OutboxMessage;
          const text = 'UPDATE outbox SET due = ?, attempts = attempts + 1 WHERE id = ?';
          await sql.run(text, toShared(until), message.id);
          taken.push(Object.assign(message, { attempt: attempts + 1 }));
        }
        return taken;
      });
    },

    of: (accountId) =>
      database.read(async (sql) => {
        const text = 'SELECT record FROM outbox WHERE account_id = ? ORDER BY id LIMIT ?';
        const rows = await sql.all<readonly [record: string]>(text, accountId, MOST_OF_PERSON);
        return rows.map(([record]) => JSON.parse(record) as OutboxMessage);
      }),

    postpone: (id, at) =>
      change(database, 'UPDATE outbox SET due = ? WHERE id = ?', toShared(at), id),

    remove: (id) => change(database, 'DELETE FROM outbox WHERE id = ?', id),
  };
}
