import type { Clock } from '#shared/base/clock.ts';
import { type Push, type PushSubscription, SOME } from '../../push/push.ts';
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';
import { sqliteMessages } from './messages.ts';
import { sqliteNews, tell } from './news.ts';
import { conclude, sqliteReceipts } from './receipts.ts';

type Row = readonly [record: string];

const parsed = ([record]: Row) => JSON.parse(record) as PushSubscription;

export function sqlitePush(file: SqliteFile, clock: Clock): Push {
  const find = (connection: Statements, column: 'id' | 'push', value: string) => {
    const sql = `SELECT record FROM push_subscription WHERE ${column} = ?`;
    const [row] = connection.all<Row>(sql, value);
    return row && parsed(row);
  };

  return {
    ...sqliteMessages(file, clock),
    ...sqliteReceipts(file, clock),
    ...sqliteNews(file),

    subscribe: (subscription, most) =>
      file.write((connection) => {
        const { id, push, person, created_at } = subscription;
        const theirs = connection.all('SELECT 1 FROM push_subscription WHERE person = ?', person);
        if (theirs.length >= most) return 'full';
        connection.run(
          'INSERT INTO push_subscription (id, push, person, created, record) VALUES (?, ?, ?, ?, ?)',
          id,
          push,
          person,
          created_at,
          JSON.stringify(subscription),
        );
        return 'added';
      }),

    subscription: (id) => file.read((connection) => find(connection, 'id', id)),
    subscriptionOf: (push) => file.read((connection) => find(connection, 'push', push)),
    subscriptionsOf: (person) =>
      file.read((connection) =>
        connection
          .all<Row>(
            'SELECT record FROM push_subscription WHERE person = ? ORDER BY created, id',
            person,
          )
          .map(parsed),
      ),
    someSubscriptions: (cursor = '') =>
      file.read((connection) => {
        const sql = 'SELECT record FROM push_subscription WHERE id > ? ORDER BY id LIMIT ?';
        const subscriptions = connection.all<Row>(sql, cursor, SOME).map(parsed);
        const last = subscriptions[SOME - 1];
        return { subscriptions, cursor: last?.id };
      }),

    unsubscribe: (id) =>
      file.write(
        (connection) => {
          const removed = connection.run('DELETE FROM push_subscription WHERE id = ?', id) === 1;
          if (!removed) return false;
          const now = clock.now();
          const messages = connection.all<[id: string, until: number]>(
            'DELETE FROM push_message WHERE subscription = ? RETURNING id, until',
            id,
          );
          for (const [message, until] of messages) {
            if (until > now) conclude(connection, message, 'gone', now);
          }
          tell(connection, id, now);
          return true;
        },
        { makesRoom: true },
      ),
  };
}
