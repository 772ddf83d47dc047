import { personText } from '#shared/stores/people/new-passkey.ts';

/** The names of the keys of second factors in a slot. */
export const secondFactorKeys = (slot: string) => ({
  /** A hash, person to JSON. */
  factors: `${slot}:second-factors`,
  /** The sorted set of the people. */
  order: `${slot}:second-factors:order`,
  /** A hash of the set-ups that are under way, person to note (set-up-in-steps.ts). */
  setUps: `${slot}:second-factors:set-up`,
});

export type SecondFactorKeys = ReturnType<typeof secondFactorKeys>;

/** Where the second factor of a person is, or would be. */
export interface Place extends SecondFactorKeys {
  readonly accountId: string;
  /** The person, as the keys have it. */
  readonly person: string;
}

export const placeIn = (slot: string, accountId: string): Place => ({
  accountId,
  person: personText(accountId),
  ...secondFactorKeys(slot),
});
