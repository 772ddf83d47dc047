import type { Clock } from '#shared/base/clock.ts';
import type { UseCounts } from '../../authentication/use-counts.ts';
import { digestOf } from '../digest.ts';
import { first, put } from '../rows.ts';
import type { Database } from '../sql.ts';

type Row = readonly [highest: number, used: string, expires: number];

const WIDTH = 128;

/** Bit n of `used` is set if the count `highest - n` was used. */
interface Window {
  readonly highest: number;
  readonly used: bigint;
}

const UNUSED: Window = { highest: 0, used: 0n };

/** Returns the window after the use of a count; undefined: the count was used, or is below the window. */
function use({ highest, used }: Window, count: number): Window | undefined {
  const back = highest - count;
  if (back >= WIDTH) return undefined;
  if (back < 0) {
    const moved = BigInt.asUintN(WIDTH, used << BigInt(Math.min(-back, WIDTH)));
    return { highest: count, used: moved | 1n };
  }
  const bit = 1n << BigInt(back);
  return (used & bit) === 0n ? { highest, used: used | bit } : undefined;
}

export function sqlUseCounts(database: Database, clock: Clock): UseCounts {
  return {
    use: async (namespace, key, count, { seconds }) => {
      if (!Number.isSafeInteger(count) || count < 1) return 'used';
      return database.write(async (sql) => {
        await sql.lockNames([`counts ${namespace} ${key}`]);
        const id = digestOf(namespace, key);
        const now = clock.now();
        const text = 'SELECT highest, used, expires FROM use_count WHERE key = ? AND expires > ?';
        const row = await first<Row>(sql, text, id, Math.floor(now));
        const next = use(row ? { highest: row[0], used: BigInt(row[1]) } : UNUSED, count);
        if (next === undefined) return 'used';
        await put(sql.last, 'use_count', 'key', {
          key: id,
          highest: next.highest,
          used: String(next.used),
          expires: row?.[2] ?? Math.ceil(now + seconds * 1000),
        });
        return 'first';
      });
    },
  };
}
