import type { Clock } from '#shared/base/clock.ts';
import { type Push, type Receipt, RECEIPT_LIFE } from '../../push/push.ts';
import { change, first, insert, objects } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql } from '../sql.ts';

/** Adds news of a subscription or receipt subscription. */
export async function tell(sql: Sql, about: string, now: number): Promise<void> {
  await insert(sql, 'push_news', { about, at: now });
}

/** Writes the outcome of a message if a receipt was requested, at a new place after all rows that were read. */
export async function conclude(
  sql: Sql,
  message: string,
  outcome: Receipt['outcome'],
  now: number,
): Promise<void> {
  const gone = 'DELETE FROM push_receipt WHERE message = ? RETURNING receipts';
  const [receipts] = (await first<[receipts: string]>(sql, gone, message)) ?? [];
  if (receipts === undefined) return;
  await insert(sql, 'push_receipt', { message, receipts, outcome, until: now + RECEIPT_LIFE });
  await tell(sql, receipts, now);
}

export async function hasReceipts(sql: Sql, id: string, now: number): Promise<boolean> {
  const text = 'SELECT 1 FROM push_receipts WHERE id = ? AND until > ?';
  return (await sql.all(text, id, now)).length === 1;
}

type Verbs = 'openReceipts' | 'hasReceipts' | 'closeReceipts' | 'receipts' | 'forgetReceipt';

export function sqlReceipts(database: Database, clock: Clock): Pick<Push, Verbs> {
  const now = () => Math.floor(clock.now());
  return {
    openReceipts: ({ id, subscription, until }, most) =>
      database.write(async (sql) => {
        const there = 'SELECT 1 FROM push_subscription WHERE id = ?';
        if ((await sql.lock(there, subscription)).length === 0) return 'ended';
        const text = 'SELECT 1 FROM push_receipts WHERE subscription = ? AND until > ?';
        const open = await sql.all(text, subscription, now());
        if (open.length >= most) return 'full';
        await insert(sql, 'push_receipts', { id, subscription, until });
        return 'added';
      }),

    hasReceipts: (id) => database.read((sql) => hasReceipts(sql, id, now())),

    closeReceipts: (id) =>
      database.write(async (sql) => {
        const at = now();
        const gone = 'DELETE FROM push_receipts WHERE id = ? RETURNING until';
        const closed = await first<[until: number]>(sql, gone, id);
        const there = closed !== undefined && closed[0] > at;
        await sql.run('DELETE FROM push_receipt WHERE receipts = ?', id);
        if (there) await tell(sql, id, at);
        return there;
      }, MAKES_ROOM),

    receipts: (id, after, most) =>
      database.read((sql) => {
        const rest = `FROM push_receipt
          WHERE receipts = ? AND place > ? AND outcome IS NOT NULL AND until > ?
          ORDER BY place LIMIT ?`;
        return objects<Receipt>(sql, 'message, outcome, place', rest, id, after, now(), most);
      }),

    forgetReceipt: (id, message) =>
      change(
        database,
        'DELETE FROM push_receipt WHERE message = ? AND receipts = ? AND outcome IS NOT NULL',
        message,
        id,
      ),
  };
}
