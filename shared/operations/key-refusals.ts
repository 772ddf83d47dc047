import { type KeyOutcome, MOST_KEYS } from '#shared/people/key-purposes.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';

/** The reasons for which a new public key is refused. */
export const KEY_REFUSALS: Readonly<Record<Exclude<KeyOutcome, 'added'>, (id: string) => Words>> = {
  taken: (id) => said('key-taken', { id }),
  full: (id) => said('key-full', { id, most: MOST_KEYS }),
  'of a client': (id) => said('key-of-client', { id }),
};
