import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf } from '../../limits/buckets.ts';
import type { Rate } from '../../limits/limits.ts';
import { digestOf } from '../digest.ts';
import { first, put } from '../rows.ts';
import type { Database, Sql, Transaction } from '../sql.ts';

export function sqlBuckets(database: Database, clock: Clock): Buckets {
  const nowOf = () => Math.floor(clock.now() * 1000);

  async function look(sql: Sql, key: Uint8Array) {
    const now = nowOf();
    const row = await first<[number]>(sql, 'SELECT full_at FROM bucket WHERE key = ?', key);
    return { now, kept: row?.[0] ?? now };
  }

  const keep = (sql: Transaction, key: Uint8Array, fullAt: number) =>
    put(sql.last, 'bucket', 'key', { key, full_at: fullAt });

  /**
   * Takes one use by one statement, if there is one. Most requests need only this: on PostgreSQL one message, not two.
   */
  const takeOne = (namespace: string, name: string, rate: Rate) =>
    database.write(async (sql) => {
      await sql.lockNames([`bucket ${namespace} ${name}`]);
      const now = nowOf();
      const interval = intervalOf(rate);
      const text = `INSERT INTO bucket (key, full_at) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE
          SET full_at = CASE WHEN bucket.full_at > ?3 THEN bucket.full_at + ?4 ELSE ?2 END
          WHERE bucket.full_at <= ?5
        RETURNING full_at`;
      const key = digestOf(namespace, name);
      const times = [now + interval, now, interval, now + (rate.burst - 1) * interval];
      const [row] = await sql.last.all<[fullAt: number]>(text, key, ...times);
      return row && { now, from: row[0] - interval, until: row[0] };
    });

  return {
    async take(namespace, name, rate, { wanted, share, unused }) {
      const isOne = wanted === 1 && share === 0 && unused === undefined;
      const one = isOne ? await takeOne(namespace, name, rate) : undefined;
      if (one) return one;
      return database.write(async (sql) => {
        await sql.lockNames([`bucket ${namespace} ${name}`]);
        const key = digestOf(namespace, name);
        const { now, kept } = await look(sql, key);
        const interval = intervalOf(rate);
        const empty = now + rate.burst * interval;
        const before = kept === unused?.until ? unused.from : kept;
        const from = Math.min(Math.max(before, now), empty);
        const room = Math.floor((empty - from) / interval);
        const taken = Math.min(room, Math.max(wanted, Math.floor(room * share)));
        const until = from + taken * interval;
        if (until !== kept) await keep(sql, key, until);
        return { now, from, until };
      });
    },
    giveBack: (namespace, name, rate) =>
      database.write(async (sql) => {
        await sql.lockNames([`bucket ${namespace} ${name}`]);
        const key = digestOf(namespace, name);
        const { now, kept } = await look(sql, key);
        const interval = intervalOf(rate);
        const fullAt = Math.min(Math.max(kept, now), now + rate.burst * interval);
        await keep(sql, key, fullAt - interval);
      }),
  };
}
