import type { Language } from '#shared/pages/language.ts';
import { adminRefusalsDe } from './refusals-de.ts';
import { filled, type Words } from '#shared/refusals/words.ts';
import { warningsDe } from './warnings-de.ts';

/** English is what operations speak. */
const MESSAGES: Readonly<Record<Exclude<Language, 'en'>, typeof adminRefusalsDe>> = {
  de: adminRefusalsDe,
};

/** A refusal of an operation in a language. Undefined: nobody has put it in words. */
export function messageWord(language: Language, message: string): string | undefined {
  if (language === 'en') return message;
  const plain = message.replace(/\.$/, '');
  const [pattern, words] = MESSAGES[language].find(([one]) => one.test(plain)) ?? [];
  return pattern && plain.replace(pattern, words ?? '');
}

const WARNINGS: Readonly<Record<Exclude<Language, 'en'>, Readonly<Record<string, string>>>> = {
  de: warningsDe,
};

/** A warning of the configuration in a language. */
export const warningWords = (language: Language, { code, values, message }: Words): string =>
  language === 'en' ? message : filled(WARNINGS[language][code] ?? message, values);
