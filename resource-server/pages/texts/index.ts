import type { Language } from '#shared/pages/language.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

const TEXTS: Readonly<Record<Language, Texts>> = { en, de };

/** Returns all texts of the pages in this language. */
export const textsOf = (language: Language): Texts => TEXTS[language];
