import { said } from '#shared/refusals/operations.ts';

/** Seconds of each unit. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** The form of a moment, in words that follow the name of the member or option. */
export const MOMENT = said('moment');

/**
 * Returns the moment in a text, in milliseconds since the epoch: an ISO 8601 time or date, or an age before `now`,
 * such as `90s`, `15m`, `2h` or `7d`. Returns undefined if the text is none.
 */
export function momentIn(text: string, now: number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0) * 1000;
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
