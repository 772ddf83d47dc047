import { SPELLINGS } from './texts.ts';
import { wholeNumber } from './whole-number.ts';

/** Default seconds of overlap: a day to install the new secret or key everywhere. */
const OVERLAP = 86_400;

/** Returns the schema of the seconds for which the old `what` stays valid beside the new one. */
export const overlap = (what: string) =>
  wholeNumber(0, 30 * OVERLAP)
    .default(OVERLAP)
    .describe(
      `how long the old ${what} stays valid, at most 30 days; 0: ends at once; default: ${OVERLAP}`,
    )
    .register(SPELLINGS, { value: 'SECONDS' });
