import type { Once, Use } from './proofs.ts';

/** Numbers that a client counts up and may use once each (RFC 7616 section 3.4, `nc`; RFC 8120, `nc`). */
export interface UseCounts {
  /**
   * `first` for exactly one caller for each `count` (1 or more) of `key`, whatever the number of callers
   * and processes. Requests overtake one another, so counts may come in any order within a window:
   * what is 128 or more below the highest that was used counts as used. Forgotten `seconds` after the
   * first use of `key`, which was made at `made`. `namespace` separates kinds of keys; `key` is never stored in clear.
   */
  use(namespace: string, key: string, count: number, once: Once): Promise<Use>;
}
