import type { Language } from '#shared/pages/language.ts';
import { adminRefusalsDe } from './refusals-de.ts';
import { adminWarningsDe } from './warnings-de.ts';

/** English is what operations speak. */
const MESSAGES: Readonly<Record<Exclude<Language, 'en'>, typeof adminRefusalsDe>> = {
  de: [...adminRefusalsDe, ...adminWarningsDe],
};

/** A refusal of an operation, or a warning of the configuration, in a language. Undefined: nobody has put it in words. */
export function messageWord(language: Language, message: string): string | undefined {
  if (language === 'en') return message;
  const plain = message.replace(/\.$/, '');
  const [pattern, words] = MESSAGES[language].find(([one]) => one.test(plain)) ?? [];
  return pattern && plain.replace(pattern, words ?? '');
}
