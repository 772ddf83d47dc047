import type { Language } from '#shared/pages/language.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { Texts } from './en.ts';

export type { Texts };

const TEXTS: Readonly<Record<Language, Texts>> = { en, de };

/** Everything that the pages say, in that language. */
export function textsOf(language: Language): Texts {
  return TEXTS[language];
}
