import type { Language } from '#shared/pages/language.ts';

/** How each language writes a moment. British English writes day, month, year, in 24 hours. */
export const DATES: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: dates('en-GB'),
  de: dates('de'),
};

function dates(locale: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
}
