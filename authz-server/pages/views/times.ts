import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../view.ts';

/** A moment (milliseconds since the epoch) as people read it: how long ago, and when exactly. */
export function moment(at: number, { language, now }: View): Html {
  const exact = new Intl.DateTimeFormat(textsOf(language).locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(at);
  return html`${relative((at - now) / 1000, language)},
    <time datetime="${new Date(at).toISOString()}">${exact}</time>`;
}

/** Seconds from now as people say it: in 2 minutes, 3 days ago. Waiting is rounded up. */
export function relative(seconds: number, language: View['language']): string {
  const [unit, length] =
    UNITS.find(([, atLeast]) => Math.abs(seconds) >= atLeast) ?? (['second', 1] as const);
  const count = seconds / length;
  const numeric = unit === 'second' ? 'auto' : 'always';
  return new Intl.RelativeTimeFormat(language, { numeric }).format(
    count > 0 ? Math.ceil(count) : Math.trunc(count),
    unit,
  );
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
