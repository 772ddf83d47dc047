import { SPELLINGS } from './texts.ts';
import { wholeNumber } from './whole-number.ts';

/** Seconds: a day to bring the new one to wherever the old one is. */
const OVERLAP = 86_400;

/** How long the old `what` lives on beside the new one, in seconds. */
export const overlap = (what: string) =>
  wholeNumber(0, 30 * OVERLAP)
    .default(OVERLAP)
    .describe(
      `how long the old ${what} stays valid, at most 30 days; 0: ends at once; default: ${OVERLAP}`,
    )
    .register(SPELLINGS, { value: 'SECONDS' });
