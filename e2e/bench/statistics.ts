/**
 * The percentile for the share `p` (0 to 1) of the values, by the nearest rank. Throws RangeError without
 * values.
 */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('there are no values');
  return value;
}

export const median = (values: readonly number[]) => percentile(values, 0.5);

/** Rounds to this many decimals. */
export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
