/** The last reports of each process, about itself and about its caches. */
export interface CacheReports {
  /** The report is forgotten after a minute. */
  put(process: string, report: string): Promise<void>;
  all(): Promise<ReadonlyMap<string, string>>;
}

/** Seconds for which a report is kept. */
export const REPORT_LIFE = 60;
