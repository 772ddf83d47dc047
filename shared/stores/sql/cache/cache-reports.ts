import type { Clock } from '#shared/base/clock.ts';
import { type CacheReports, REPORT_LIFE } from '../../cache/cache-reports.ts';
import { put } from '../rows.ts';
import type { Database } from '../sql.ts';

export function sqlCacheReports(database: Database, clock: Clock): CacheReports {
  return {
    put: async (process, report) =>
      void (await database.write((sql) => {
        const expires = Math.ceil(clock.now() + REPORT_LIFE * 1000);
        return put(sql.last, 'cache_report', 'process', { process, report, expires });
      })),
    all: () =>
      database.read(async (sql) => {
        const text = 'SELECT process, report FROM cache_report WHERE expires > ?';
        return new Map(await sql.all<[string, string]>(text, Math.floor(clock.now())));
      }),
  };
}
