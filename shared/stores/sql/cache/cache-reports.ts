import type { Clock } from '#shared/base/clock.ts';
import { type CacheReports, REPORT_LIFE } from '../../cache/cache-reports.ts';
import type { Database } from '../sql.ts';

export function sqlCacheReports(database: Database, clock: Clock): CacheReports {
  return {
    put: async (process, report) =>
      void (await database.write((sql) =>
        sql.last.run(
          `INSERT INTO cache_report (process, report, expires) VALUES (?, ?, ?)
           ON CONFLICT (process) DO UPDATE SET report = excluded.report, expires = excluded.expires`,
          process,
          report,
          Math.ceil(clock.now() + REPORT_LIFE * 1000),
        ),
      )),
    all: () =>
      database.read(async (sql) => {
        const rows = await sql.all<[process: string, report: string]>(
          'SELECT process, report FROM cache_report WHERE expires > ?',
          Math.floor(clock.now()),
        );
        return new Map(rows);
      }),
  };
}
