import type { Random } from '#shared/base/random.ts';
import type { Commands, Connection } from '../connection/connection.ts';
import type { Slots } from '../connection/slots.ts';

/** A run of `countersign redis spread`, which moves what was in one slot to many while no server runs. */
export interface Move {
  /** Reads, and empties the former places. */
  readonly redis: Connection;
  /** Writes at the new places. Its durable scripts fail once another run has gone on with the move. */
  readonly mine: Commands;
  readonly prefix: string;
  readonly slots: Slots;
  readonly random: Random;
  /** Is told how many keys or records were moved since the last time. */
  count(moved: number): void;
}

/**
 * Moves one part. It goes on where a run was stopped, at whatever step: what is at the new place already was written by that run.
 */
export type Mover = (move: Move) => Promise<void>;
