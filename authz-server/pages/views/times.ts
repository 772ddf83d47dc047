import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { Language, View } from '../frame/view.ts';

/** Made once for each language, which takes longer than all that a page does with it. */
function perLanguage<Format>(make: (language: Language) => Format): (language: Language) => Format {
  const made: Partial<Record<Language, Format>> = {};
  return (language) => (made[language] ??= make(language));
}

const inUtc = (more: Intl.DateTimeFormatOptions) =>
  perLanguage(
    (language) =>
      new Intl.DateTimeFormat(textsOf(language).locale, {
        day: 'numeric',
        year: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        timeZone: 'UTC',
        timeZoneName: 'short',
        ...more,
      }),
  );
/** The script of pages has the same formats, for the time zone of the reader. */
const FORMATS = { long: inUtc({ month: 'long' }), short: inUtc({ month: 'short' }) };
const inSeconds = perLanguage(
  (language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
);
const inLongerUnits = perLanguage(
  (language) => new Intl.RelativeTimeFormat(language, { numeric: 'always' }),
);

/** A moment (milliseconds since the epoch) as people read it: how long ago, and when exactly. */
export const moment = (at: number, view: View): Html =>
  html`${relative((at - view.now) / 1000, view.language)}, ${timeOf(at, view, 'long')}`;

/** The `<time>` of a moment (milliseconds since the epoch); lists show the short form alone. */
export function timeOf(at: number, { language }: View, shown: keyof typeof FORMATS): Html {
  const iso = new Date(at).toISOString();
  const text = FORMATS[shown](language).format(at);
  return html`<time datetime="${iso}" data-shown="${shown}">${text}</time>`;
}

/** Seconds from now as people say it: in 2 minutes, 3 days ago. Waiting is rounded up. */
export function relative(seconds: number, language: View['language']): string {
  const [unit, length] =
    UNITS.find(([, atLeast]) => Math.abs(seconds) >= atLeast) ?? (['second', 1] as const);
  const count = seconds / length;
  const format = unit === 'second' ? inSeconds : inLongerUnits;
  return format(language).format(count > 0 ? Math.ceil(count) : Math.trunc(count), unit);
}

/** A time in the longest unit of which it is several whole ones: 24 hours, not one day. */
export function lasting(seconds: number, language: Language): string {
  const [unit, length] =
    UNITS.slice(2).find(([, one]) => seconds > one && seconds % one === 0) ?? SECOND;
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(seconds / length);
}

const SECOND = ['second', 1] as const;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
