import type { Clock } from '#shared/base/clock.ts';
import {
  type PlacedMessage,
  type Posted,
  type Push,
  type PushLimits,
  type PushMessage,
  RECEIPT_LIFE,
  URGENCIES,
} from '../../push/push.ts';
import { first, insert } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql, type Transaction } from '../sql.ts';
import { conclude, hasReceipts, tell } from './receipts.ts';

type Row = readonly [place: number, record: string, body: NodeJS.NonSharedUint8Array];

const COLUMNS = 'place, record, body';

const placed = ([place, record, body]: Row): PlacedMessage => ({
  ...(JSON.parse(record) as Omit<PushMessage, 'body'>),
  body: Buffer.from(body),
  place,
});

export function sqlMessages(
  database: Database,
  clock: Clock,
): Pick<Push, 'post' | 'message' | 'messages' | 'acknowledge'> {
  const now = () => Math.floor(clock.now());
  return {
    post: (message, limits) =>
      database.write(async (sql) => {
        const at = now();
        const refused = await refusalOf(sql, message, limits, at);
        if (refused) return refused;
        await add(sql, message);
        if (message.receipts !== undefined) await expectReceipt(sql, message, message.receipts);
        await tell(sql, message.subscription, at);
        return 'added';
      }),

    message: (id) =>
      database.read(async (sql) => {
        const text = `SELECT ${COLUMNS} FROM push_message WHERE id = ? AND until > ?`;
        const row = await first<Row>(sql, text, id, now());
        return row && placed(row);
      }),

    messages: (subscription, after, least, most) =>
      database.read(async (sql) => {
        const text = `SELECT ${COLUMNS} FROM push_message
          WHERE subscription = ? AND place > ? AND urgency >= ? AND until > ?
          ORDER BY place LIMIT ?`;
        const urgency = URGENCIES.indexOf(least);
        const rows = await sql.all<Row>(text, subscription, after, urgency, now(), most);
        return rows.map(placed);
      }),

    acknowledge: (id) =>
      database.write(async (sql) => {
        const at = now();
        const text = 'DELETE FROM push_message WHERE id = ? AND until > ?';
        if ((await sql.run(text, id, at)) === 0) return false;
        await conclude(sql, id, 'delivered', at);
        return true;
      }, MAKES_ROOM),
  };
}

/** Removes the messages that this message replaces. Resolves to the reason why the message is refused, if it is. */
async function refusalOf(
  sql: Transaction,
  { subscription, topic, receipts }: PushMessage,
  limits: PushLimits,
  now: number,
): Promise<Posted | undefined> {
  const there = 'SELECT 1 FROM push_subscription WHERE id = ?';
  if ((await sql.lock(there, subscription)).length === 0) return 'ended';
  const ofTopic = 'SELECT id FROM push_message WHERE subscription = ? AND topic = ?';
  const replaced = await sql.all<[id: string]>(ofTopic, subscription, topic ?? null);
  const ofOthers = `SELECT id FROM push_message
    WHERE subscription = ? AND until > ? AND topic IS DISTINCT FROM ?`;
  const others = await sql.all<[id: string]>(ofOthers, subscription, now, topic ?? '');
  if (others.length >= limits.messages) return 'full';
  if (receipts !== undefined) {
    if (!(await hasReceipts(sql, receipts, now))) return 'no-receipts';
    const ofReceipts = 'SELECT 1 FROM push_receipt WHERE receipts = ? AND until > ?';
    const expected = await sql.all(ofReceipts, receipts, now);
    if (expected.length >= limits.receipts) return 'receipts-full';
  }
  for (const [id] of replaced) {
    await sql.run('DELETE FROM push_message WHERE id = ?', id);
    await sql.run('DELETE FROM push_receipt WHERE message = ?', id);
  }
  return undefined;
}

function add(sql: Sql, { body, ...message }: PushMessage) {
  const { id, subscription, topic = null, until } = message;
  const urgency = URGENCIES.indexOf(message.urgency);
  const record = JSON.stringify(message);
  return insert(sql, 'push_message', { id, subscription, topic, urgency, until, record, body });
}

async function expectReceipt(
  sql: Sql,
  { id, until }: PushMessage,
  receipts: string,
): Promise<void> {
  await insert(sql, 'push_receipt', { message: id, receipts, until });
  const kept = until + RECEIPT_LIFE;
  const text = 'UPDATE push_receipts SET until = ? WHERE id = ? AND until < ?';
  await sql.run(text, kept, receipts, kept);
}
