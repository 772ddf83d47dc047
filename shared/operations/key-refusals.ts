import { type KeyOutcome, MOST_KEYS } from '#shared/people/key-purposes.ts';

/** The reasons against a new public key, in words that go on after its fingerprint. */
export const KEY_REFUSALS: Readonly<Record<Exclude<KeyOutcome, 'added'>, string>> = {
  taken: 'is known already, and no key is used twice: make another',
  full: `would be one too many, there are ${MOST_KEYS}: remove one first`,
  'of a client': 'is that of a client of the authorization server: make another',
};
