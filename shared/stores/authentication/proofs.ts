import type { Replay } from './replay.ts';

/** `forgotten`: the proof may have been used before the store lost its memory. */
export type Use = 'first' | 'used' | 'forgotten';

/** The time when a proof or another thing of single use was made, and how long it is remembered. */
export interface Once {
  /** Milliseconds since the epoch by the clock of one of our servers. No use is earlier. */
  readonly made: number;
  /** The time for which a use is remembered. */
  readonly seconds: number;
}

/** Proofs of single use (RFC 9449 section 11.1). A store that has lost its memory refuses all earlier proofs. */
export interface Proofs {
  /**
   * `first` for exactly one caller within `seconds`, in all processes. `namespace` separates kinds of keys. `key` may
   * be any string; it is never stored in clear.
   */
  spend(namespace: 'dpop' | 'hoba', key: string, once: Once): Promise<Use>;
}

/** Proofs in a store that forgets no proof before the proof expires. */
export function proofsOver(replay: Pick<Replay, 'unique'>): Proofs {
  return {
    spend: async (namespace, key, { seconds }) =>
      (await replay.unique(namespace, key, seconds)) ? 'first' : 'used',
  };
}
