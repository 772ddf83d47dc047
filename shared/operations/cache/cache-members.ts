import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** A URL, which determines its space. */
export const cachedUrl = z
  .string()
  .max(8000, fault(said('too-long', { most: 8000 })))
  .describe('the URL as clients send it, with the query')
  .register(SPELLINGS, { value: 'URL' });

/** Whether answers become stale instead of being removed. */
export const soft = z
  .boolean()
  .default(false)
  .describe('keep the answers, but ask the application again before using them');
