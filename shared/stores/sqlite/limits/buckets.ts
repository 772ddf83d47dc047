import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf } from '../../limits/buckets.ts';
import type { Statements } from '../file/connection.ts';
import { digestOf } from '../file/digest.ts';
import type { SqliteFile } from '../file/file.ts';

export function sqliteBuckets(file: SqliteFile, clock: Clock): Buckets {
  const look = (connection: Statements, key: Uint8Array) => {
    const now = Math.floor(clock.now() * 1000);
    const [row] = connection.all<[fullAt: number]>('SELECT full_at FROM bucket WHERE key = ?', key);
    return { now, kept: row?.[0] ?? now };
  };

  const keep = (connection: Statements, key: Uint8Array, fullAt: number) =>
    connection.run(
      `INSERT INTO bucket (key, full_at) VALUES (?, ?)
       ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at`,
      key,
      fullAt,
    );

  return {
    take: (namespace, name, rate, { wanted, share, unused }) =>
      file.write((connection) => {
        const key = digestOf(namespace, name);
        const { now, kept } = look(connection, key);
        const interval = intervalOf(rate);
        const empty = now + rate.burst * interval;
        const before = kept === unused?.until ? unused.from : kept;
        const from = Math.min(Math.max(before, now), empty);
        const room = Math.floor((empty - from) / interval);
        const taken = Math.min(room, Math.max(wanted, Math.floor(room * share)));
        const until = from + taken * interval;
        if (until !== kept) keep(connection, key, until);
        return { now, from, until };
      }),
    giveBack: (namespace, name, rate) =>
      file.write((connection) => {
        const key = digestOf(namespace, name);
        const { now, kept } = look(connection, key);
        const interval = intervalOf(rate);
        const fullAt = Math.min(Math.max(kept, now), now + rate.burst * interval);
        keep(connection, key, fullAt - interval);
      }),
  };
}
