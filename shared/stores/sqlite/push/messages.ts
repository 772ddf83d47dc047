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
import type { Statements } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';
import { tell } from './news.ts';
import { conclude, hasReceipts } from './receipts.ts';

type Row = readonly [place: number, record: string, body: NodeJS.NonSharedUint8Array];

const COLUMNS = 'place, record, body';

const placed = ([place, record, body]: Row): PlacedMessage => ({
  ...(JSON.parse(record) as Omit<PushMessage, 'body'>),
  body: Buffer.from(body),
  place,
});

export function sqliteMessages(
  file: SqliteFile,
  clock: Clock,
): Pick<Push, 'post' | 'message' | 'messages' | 'acknowledge'> {
  return {
    post: (message, limits) =>
      file.write((connection) => {
        const now = clock.now();
        const refused = refusalOf(connection, message, limits, now);
        if (refused) return refused;
        insert(connection, message);
        if (message.receipts !== undefined) expectReceipt(connection, message, message.receipts);
        tell(connection, message.subscription, now);
        return 'added';
      }),

    message: (id) =>
      file.read((connection) => {
        const sql = `SELECT ${COLUMNS} FROM push_message WHERE id = ? AND until > ?`;
        const [row] = connection.all<Row>(sql, id, clock.now());
        return row && placed(row);
      }),

    messages: (subscription, after, least, most) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT ${COLUMNS} FROM push_message
             WHERE subscription = ? AND place > ? AND urgency >= ? AND until > ?
             ORDER BY place LIMIT ?`,
            subscription,
            after,
            URGENCIES.indexOf(least),
            clock.now(),
            most,
          )
          .map(placed),
      ),

    acknowledge: (id) =>
      file.write(
        (connection) => {
          const now = clock.now();
          const sql = 'DELETE FROM push_message WHERE id = ? AND until > ?';
          if (connection.run(sql, id, now) === 0) return false;
          conclude(connection, id, 'delivered', now);
          return true;
        },
        { makesRoom: true },
      ),
  };
}

/** Removes what the message replaces. Returns why it cannot be kept; undefined if it can. */
function refusalOf(
  connection: Statements,
  { subscription, topic, receipts }: PushMessage,
  limits: PushLimits,
  now: number,
): Posted | undefined {
  const there = 'SELECT 1 FROM push_subscription WHERE id = ?';
  if (connection.all(there, subscription).length === 0) return 'ended';
  const replaced = connection.all<[id: string]>(
    'SELECT id FROM push_message WHERE subscription = ? AND topic = ?',
    subscription,
    topic ?? null,
  );
  const others = connection.all<[id: string]>(
    'SELECT id FROM push_message WHERE subscription = ? AND until > ? AND topic IS NOT ?',
    subscription,
    now,
    topic ?? '',
  );
  if (others.length >= limits.messages) return 'full';
  if (receipts !== undefined) {
    if (!hasReceipts(connection, receipts, now)) return 'no-receipts';
    const expected = connection.all(
      'SELECT 1 FROM push_receipt WHERE receipts = ? AND until > ?',
      receipts,
      now,
    );
    if (expected.length >= limits.receipts) return 'receipts-full';
  }
  for (const [id] of replaced) {
    connection.run('DELETE FROM push_message WHERE id = ?', id);
    connection.run('DELETE FROM push_receipt WHERE message = ?', id);
  }
  return undefined;
}

function insert(connection: Statements, message: PushMessage): void {
  const { body, ...record } = message;
  connection.run(
    `INSERT INTO push_message (id, subscription, topic, urgency, until, record, body)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    message.id,
    message.subscription,
    message.topic ?? null,
    URGENCIES.indexOf(message.urgency),
    message.until,
    JSON.stringify(record),
    body,
  );
}

function expectReceipt(connection: Statements, { id, until }: PushMessage, receipts: string): void {
  connection.run(
    'INSERT INTO push_receipt (message, receipts, until) VALUES (?, ?, ?)',
    id,
    receipts,
    until,
  );
  connection.run(
    'UPDATE push_receipts SET until = max(until, ?) WHERE id = ?',
    until + RECEIPT_LIFE,
    receipts,
  );
}
