import type { Clock } from '#shared/base/clock.ts';
import { type Push, type PushSubscription, SOME } from '../../push/push.ts';
import { insert, recordsIn } from '../rows.ts';
import { type Database, MAKES_ROOM } from '../sql.ts';
import { sqlMessages } from './messages.ts';
import { conclude, sqlReceipts, tell } from './receipts.ts';

const subscriptions = recordsIn<PushSubscription>('push_subscription');

export function sqlPush(database: Database, clock: Clock): Push {
  return {
    ...sqlMessages(database, clock),
    ...sqlReceipts(database, clock),

    subscribe: (subscription, most) =>
      database.write(async (sql) => {
        const { id, push, person, created_at: created } = subscription;
        await sql.lockNames([`push of ${person}`]);
        const theirs = await subscriptions.all(sql, 'WHERE person = ?', person);
        if (theirs.length >= most) return 'full';
        const record = JSON.stringify(subscription);
        await insert(sql, 'push_subscription', { id, push, person, created, record });
        return 'added';
      }),

    subscription: (id) => database.read((sql) => subscriptions.find(sql, 'WHERE id = ?', id)),
    subscriptionOf: (push) =>
      database.read((sql) => subscriptions.find(sql, 'WHERE push = ?', push)),
    subscriptionsOf: (person) =>
      database.read((sql) =>
        subscriptions.all(sql, 'WHERE person = ? ORDER BY created, id', person),
      ),
    someSubscriptions: (cursor = '') =>
      database.read(async (sql) => {
        const some = await subscriptions.page(sql, 'id', [cursor], SOME);
        return { subscriptions: some, cursor: some[SOME - 1]?.id };
      }),

    unsubscribe: (id) =>
      database.write(async (sql) => {
        const gone = 'DELETE FROM push_subscription WHERE id = ?';
        if ((await sql.run(gone, id)) === 0) return false;
        const now = Math.floor(clock.now());
        const text = 'DELETE FROM push_message WHERE subscription = ? RETURNING id, until';
        const messages = await sql.all<[id: string, until: number]>(text, id);
        for (const [message, until] of messages) {
          if (until > now) await conclude(sql, message, 'gone', now);
        }
        await tell(sql, id, now);
        return true;
      }, MAKES_ROOM),

    news: (ids, position) =>
      database.read(async (sql) => {
        if (position === undefined) {
          const [[last] = [0]] = await sql.all<[number]>('SELECT LAST(push_news, place)');
          return { position: String(last), of: new Set(ids) };
        }
        const text = 'SELECT place, about FROM push_news WHERE place > ? ORDER BY place';
        const rows = await sql.all<[place: number, about: string]>(text, Number(position));
        const [last] = rows.at(-1) ?? [position];
        return { position: String(last), of: new Set(rows.map(([, about]) => about)) };
      }),
  };
}
