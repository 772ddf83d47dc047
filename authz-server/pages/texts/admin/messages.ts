import type { Language } from '#shared/pages/language.ts';
import { inLanguage, sentenceIn } from '#shared/refusals/languages.ts';
import { OPERATIONS } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';
import { refusalsDe } from './refusals-de.ts';
import { warningsDe } from './warnings-de.ts';

/** Operations and the configuration speak English. */
type Other = Exclude<Language, 'en'>;

const REFUSALS: Readonly<Record<Other, typeof refusalsDe>> = { de: refusalsDe };
const WARNINGS: Readonly<Record<Other, typeof warningsDe>> = { de: warningsDe };

/** A refusal of an operation in a language. */
export const refusalWords = (language: Language, words: Words): string =>
  language === 'en' ? words.message : inLanguage(REFUSALS[language], words);

/** The same as a sentence. */
export const refusalSentence = (language: Language, words: Words): string =>
  sentenceIn(language === 'en' ? OPERATIONS : REFUSALS[language], words);

/** A warning of the configuration in a language. */
export const warningWords = (language: Language, words: Words): string =>
  language === 'en' ? words.message : inLanguage(WARNINGS[language], words);
