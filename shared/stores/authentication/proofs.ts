import type { Replay } from './replay.ts';

/** `forgotten`: it may have been used before the store lost its memory. */
export type Use = 'first' | 'used' | 'forgotten';

/** The time when a proof or another thing of single use was made, and how long it is remembered. */
export interface Once {
  /** Milliseconds since the epoch, by the clock of one of our servers: nobody can have used it before. */
  readonly made: number;
  /** For so long it counts as used. */
  readonly seconds: number;
}

/**
 * Proofs that are good once (RFC 9449 section 11.1). Where they are remembered may lose its memory: what was made
 * before is then refused, so that nothing is good twice.
 */
export interface Proofs {
  /**
   * `first` for exactly one caller within `seconds`, whatever the number of callers and processes. `namespace` separates
   * kinds of keys; `key` may be any string and is never stored in clear.
   */
  spend(namespace: 'dpop' | 'hoba', key: string, once: Once): Promise<Use>;
}

/** Proofs in a memory that lasts as long as they are good. */
export function proofsOver(replay: Pick<Replay, 'unique'>): Proofs {
  return {
    spend: async (namespace, key, { seconds }) =>
      (await replay.unique(namespace, key, seconds)) ? 'first' : 'used',
  };
}
