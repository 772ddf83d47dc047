const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';

/** Matches for the three forms of HTTP-date (RFC 9110 section 5.6.7): IMF-fixdate, rfc850-date, asctime-date. */
const FORMS = [
  String.raw`${DAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT`,
  String.raw`${DAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Returns the latest year with these two digits that is at most 50 years ahead. */
function fullYear(year: string, now: number): number {
  if (year.length === 4) return Number(year);
  const limit = new Date(now).getUTCFullYear() + 50;
  return limit - ((limit - Number(year)) % 100);
}

/**
 * Parses an HTTP-date to milliseconds since the epoch; returns undefined if it is none. `now`, also in milliseconds,
 * decides the century of the obsolete form with two digits.
 */
export function parseHttpDate(value: string, now: number): number | undefined {
  const found = FORMS.map((form) => form.exec(value)?.groups).find((groups) => groups);
  if (found === undefined) return undefined;
  const { year = '', month = '', day, hour, minute, second } = found;
  const midnight = new Date(0);
  midnight.setUTCFullYear(fullYear(year, now), MONTHS.indexOf(month), Number(day));
  if (midnight.getUTCDate() !== Number(day)) return undefined;
  return midnight.getTime() + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
}
