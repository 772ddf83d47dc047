import type { Clock } from './clock.ts';

/** Returns a NumericDate in words: the time, and its distance from now. */
export function moment(value: unknown, clock: Clock): string {
  const milliseconds = typeof value === 'number' ? value * 1000 : Number.NaN;
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return `${JSON.stringify(value)}, which is no time`;
  const seconds = Math.round((milliseconds - clock.now()) / 1000);
  return `${date.toISOString()} (${seconds < 0 ? `${-seconds} s ago` : `in ${seconds} s`})`;
}
