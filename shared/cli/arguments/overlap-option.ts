import type { Input, Option } from './command.ts';
import { wholeNumber } from './whole-number.ts';

/** Seconds: by default a day to replace the old secret or key wherever it is used. */
const OVERLAP = 86_400;

/** Returns the option for how long the old `what` stays valid beside the new one. */
export const overlapOption = (what: string): Readonly<Record<string, Option>> => ({
  overlap: {
    value: 'SECONDS',
    help: `how long the old ${what} stays valid, at most 30 days; 0: ends at once; default: ${OVERLAP}`,
  },
});

export const overlapFrom = (input: Input): number =>
  wholeNumber(input, 'overlap', 0, 30 * OVERLAP) ?? OVERLAP;
