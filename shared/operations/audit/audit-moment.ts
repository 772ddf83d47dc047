import { said } from '#shared/refusals/operations.ts';

/** Seconds of a unit. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** The form of a moment, in words that go on after the name of the member or option. */
export const MOMENT = said('moment');

/**
 * Returns the moment that was written, in milliseconds since the epoch: an ISO 8601 time or date, or how long before
 * `now` it is, such as `90s`, `15m`, `2h` or `7d`. Undefined: it is none.
 */
export function momentIn(text: string, now: number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0) * 1000;
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
