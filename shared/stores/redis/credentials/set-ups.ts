import type { SecondFactorSetUp } from '#shared/stores/credentials/second-factors.ts';
import type { Place, SecondFactorKeys } from './second-factor-keys.ts';

/** A record that is written, and whatever has to be there until then. */
export interface NewRecord extends Pick<SecondFactorSetUp, 'generation' | 'until'> {
  readonly record: string;
  /** The record that it replaces. */
  readonly was: string | null;
}

/** How second factors are set up, and found while that goes on. */
export interface SetUps {
  /** Resolves to the record of a person. */
  find(place: Place): Promise<string | null>;
  /** The same, and refuses a set-up that is under way. */
  alone(place: Place): Promise<string | null>;
  /** Finishes what is done of the set-ups in a slot. */
  finish(keys: SecondFactorKeys): Promise<void>;
  /**
   * Keeps a record and raises the person's generation, both or neither. Resolves to the new one. Undefined: the person has
   * another generation, or it was refused meanwhile; `changed`: look again.
   */
  setUp(place: Place, record: NewRecord): Promise<number | 'changed' | undefined>;
}
