import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';

/** A URL, which says of which space it is. */
export const cachedUrl = z
  .string()
  .max(8000, 'must have at most 8000 characters')
  .describe('the URL as clients send it, with its query')
  .register(SPELLINGS, { value: 'URL' });

/** Whether answers are only outdated. */
export const soft = z
  .boolean()
  .default(false)
  .describe('keep the answers, but ask the application again before using them');
