/** What the caches say of themselves, for the command line; of each process what it said last. */
export interface CacheReports {
  /** Forgotten after a minute. */
  put(process: string, report: string): Promise<void>;
  /** By process. */
  all(): Promise<ReadonlyMap<string, string>>;
}

/** Seconds for which a report is kept. */
export const REPORT_LIFE = 60;
