import { type CacheReport, readCacheReport } from '#shared/stores/cache/reports.ts';
import type { CacheReports } from '#shared/stores/cache/cache-reports.ts';

/** Returns the report of each process about its caches, in the order of their names. */
export async function cacheReports(
  reports: Pick<CacheReports, 'all'>,
): Promise<readonly { readonly process: string; readonly report: CacheReport }[]> {
  return [...(await reports.all())]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([process, text]) => {
      const report = readCacheReport(text);
      return report === undefined ? [] : { process, report };
    });
}
