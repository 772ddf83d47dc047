import type * as z from 'zod';
import { said } from './operations.ts';
import type { Words } from './words.ts';

type Say = Words | ((input: unknown) => Words);

/** Returns the parameters by which a schema says this: the issue has the English as message, and the words beside it. */
export const fault = (say: Say) => ({ error: withWords(say) });

/** Puts words into an issue, and returns the English. */
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
