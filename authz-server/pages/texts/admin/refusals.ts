import type { Language } from '#shared/pages/language.ts';
import { adminRefusalsDe } from './refusals-de.ts';

/** English is what operations speak. */
const REFUSALS: Readonly<Record<Exclude<Language, 'en'>, typeof adminRefusalsDe>> = {
  de: adminRefusalsDe,
};

/** A reason of an operation in a language. Undefined: nobody has put it in words. */
export function refusalWord(language: Language, message: string): string | undefined {
  if (language === 'en') return message;
  const plain = message.replace(/\.$/, '');
  const [pattern, words] = REFUSALS[language].find(([one]) => one.test(plain)) ?? [];
  return pattern && plain.replace(pattern, words ?? '');
}
