import type { Clock } from '#shared/base/clock.ts';
import { type CacheReports, REPORT_LIFE } from '../../cache/cache-reports.ts';
import type { SqliteFile } from '../file/file.ts';

export function sqliteCacheReports(file: SqliteFile, clock: Clock): CacheReports {
  return {
    put: (process, report) =>
      file.write(
        (connection) =>
          void connection.run(
            'INSERT OR REPLACE INTO cache_report (process, report, expires) VALUES (?, ?, ?)',
            process,
            report,
            Math.ceil(clock.now() + REPORT_LIFE * 1000),
          ),
      ),
    all: () =>
      file.read((connection) => {
        const rows = connection.all<[process: string, report: string]>(
          'SELECT process, report FROM cache_report WHERE expires > ?',
          clock.now(),
        );
        return new Map(rows);
      }),
  };
}
