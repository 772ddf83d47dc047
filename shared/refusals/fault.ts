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
