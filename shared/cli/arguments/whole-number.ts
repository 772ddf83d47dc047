import { type Input, UsageError } from './command.ts';

/** Returns the value of an option, if it is given. Throws `UsageError` if it is no integer within the bounds. */
export function wholeNumber(
  input: Input,
  option: string,
  least: number,
  most: number,
): number | undefined {
  const text = input.text(option);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`--${option} must be a whole number from ${least} to ${most}`);
}
