import * as z from 'zod';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** A whole number within these bounds. */
export function wholeNumber(least: number, most: number) {
  const error = fault(said('whole-number', { least, most }));
  return z.int(error).min(least, error).max(most, error);
}
