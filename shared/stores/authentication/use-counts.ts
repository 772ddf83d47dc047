import type { Once, Use } from './proofs.ts';

/** Numbers of a client that count up and are valid once (`nc` of RFC 7616 section 3.4 and of RFC 8120). */
export interface UseCounts {
  /**
   * `first` for exactly one caller for each `count` (1 or more) of `key`, in all processes. Requests overtake one
   * another, so counts may come in any order within a window: a count that is 128 or more below the highest is `used`.
   * The store forgets the key `seconds` after its first use. `namespace` separates kinds of keys; `key` is never stored
   * in clear.
   */
  use(namespace: string, key: string, count: number, once: Once): Promise<Use>;
}
