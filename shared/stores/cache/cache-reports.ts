/** The latest reports of each process, about itself and about its caches, each under a name of its own. */
export interface CacheReports {
  /** Forgotten after a minute. */
  put(process: string, report: string): Promise<void>;
  /** Returns the reports by their names. */
  all(): Promise<ReadonlyMap<string, string>>;
}

/** Seconds for which a report is kept. */
export const REPORT_LIFE = 60;
