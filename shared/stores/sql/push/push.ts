import type { Clock } from '#shared/base/clock.ts';
import { type Push, type PushSubscription, SOME } from '../../push/push.ts';
import type { Database, Sql } from '../sql.ts';
import { sqlMessages } from './messages.ts';
import { sqlNews, tell } from './news.ts';
import { conclude, sqlReceipts } from './receipts.ts';

type Row = readonly [record: string];

const parsed = ([record]: Row) => JSON.parse(record) as PushSubscription;

async function find(
  sql: Sql,
  column: 'id' | 'push',
  value: string,
): Promise<PushSubscription | undefined> {
  const text = `SELECT record FROM push_subscription WHERE ${column} = ?`;
  const [row] = await sql.all<Row>(text, value);
  return row && parsed(row);
}

export function sqlPush(database: Database, clock: Clock): Push {
  return {
    ...sqlMessages(database, clock),
    ...sqlReceipts(database, clock),
    ...sqlNews(database),

    subscribe: (subscription, most) =>
      database.write(async (sql) => {
        const { id, push, person, created_at } = subscription;
        await sql.lockNames([`push of ${person}`]);
        const theirs = await sql.all('SELECT 1 FROM push_subscription WHERE person = ?', person);
        if (theirs.length >= most) return 'full';
        await sql.run(
          'INSERT INTO push_subscription (id, push, person, created, record) VALUES (?, ?, ?, ?, ?)',
          id,
          push,
          person,
          created_at,
          JSON.stringify(subscription),
        );
        return 'added';
      }),

    subscription: (id) => database.read((sql) => find(sql, 'id', id)),
    subscriptionOf: (push) => database.read((sql) => find(sql, 'push', push)),
    subscriptionsOf: (person) =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          'SELECT record FROM push_subscription WHERE person = ? ORDER BY created, id',
          person,
        );
        return rows.map(parsed);
      }),
    someSubscriptions: (cursor = '') =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          'SELECT record FROM push_subscription WHERE id > ? ORDER BY id LIMIT ?',
          cursor,
          SOME,
        );
        const subscriptions = rows.map(parsed);
        return { subscriptions, cursor: subscriptions[SOME - 1]?.id };
      }),

    unsubscribe: (id) =>
      database.write(
        async (sql) => {
          const gone = 'DELETE FROM push_subscription WHERE id = ?';
          if ((await sql.run(gone, id)) === 0) return false;
          const now = Math.floor(clock.now());
          const messages = await sql.all<[id: string, until: number]>(
            'DELETE FROM push_message WHERE subscription = ? RETURNING id, until',
            id,
          );
          for (const [message, until] of messages) {
            if (until > now) await conclude(sql, message, 'gone', now);
          }
          await tell(sql, id, now);
          return true;
        },
        { makesRoom: true },
      ),
  };
}
