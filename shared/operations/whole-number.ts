import * as z from 'zod';

/** A whole number within these bounds. */
export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, error).max(most, error);
}
