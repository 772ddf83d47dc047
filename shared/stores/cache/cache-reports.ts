/** The latest report of each process about its caches, for the command line. */
export interface CacheReports {
  /** Forgotten after a minute. */
  put(process: string, report: string): Promise<void>;
  /** Returns the reports by process. */
  all(): Promise<ReadonlyMap<string, string>>;
}

/** Seconds for which a report is kept. */
export const REPORT_LIFE = 60;
