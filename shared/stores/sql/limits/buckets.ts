import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf } from '../../limits/buckets.ts';
import { digestOf } from '../digest.ts';
import type { Database, Sql, Transaction } from '../sql.ts';

export function sqlBuckets(database: Database, clock: Clock): Buckets {
  async function look(sql: Sql, key: Uint8Array) {
    const now = Math.floor(clock.now() * 1000);
    const [row] = await sql.all<[fullAt: number]>('SELECT full_at FROM bucket WHERE key = ?', key);
    return { now, kept: row?.[0] ?? now };
  }

  const keep = (sql: Transaction, key: Uint8Array, fullAt: number) =>
    sql.last.run(
      `INSERT INTO bucket (key, full_at) VALUES (?, ?)
       ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at`,
      key,
      fullAt,
    );

  return {
    take: (namespace, name, rate, { wanted, share, unused }) =>
      database.write(async (sql) => {
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
      }),
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
