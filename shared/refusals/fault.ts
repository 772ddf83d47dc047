import type * as z from 'zod';
import { said } from './operations.ts';
import type { Words } from './words.ts';

type Say = Words | ((input: unknown) => Words);

/** Returns a schema's parameters for a mistake: the issue has the English text as its message, and also the words. */
export const fault = (say: Say) => ({ error: withWords(say) });

/** Adds words to an issue, and returns the English text. */
export const withWords =
  (say: Say) =>
  (issue: z.core.$ZodRawIssue): string => {
    const words = typeof say === 'function' ? say(issue.input) : say;
    issue['words'] = words;
    return words.message;
  };

/** Returns the words of an issue. */
export const faultOf = (issue: z.core.$ZodIssue): Words =>
  (Reflect.get(issue, 'words') as Words | undefined) ?? said('other', { issue: issue.code });

/** Describes what a member must be, if its schema does not. The issue carries the words. */
export const inWords: z.core.$ZodErrorMap = (issue) => withWords(wordsOf(issue))(issue);

function wordsOf(issue: z.core.$ZodRawIssue): Words {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? said('missing') : said('type', { type: issue.expected });
  }
  if (issue.code === 'invalid_value') return said('choice', { names: issue.values.join(', ') });
  if (issue.code === 'unrecognized_keys') return said('unknown-member');
  if (issue.code === 'too_big') {
    const code = TOO_BIG[issue.origin] ?? 'too-large';
    return said(code, { most: String(issue.maximum) });
  }
  if (issue.code === 'too_small') {
    const code = issue.origin === 'array' ? 'too-few' : 'too-small';
    return said(code, { least: String(issue.minimum) });
  }
  return said('other', { issue: issue.code });
}

const TOO_BIG: Readonly<Record<string, 'too-long' | 'too-many'>> = {
  string: 'too-long',
  array: 'too-many',
};
