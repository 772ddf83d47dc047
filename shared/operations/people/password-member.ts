import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';

/** A new password; `judgePassword` checks it. */
export const passwordMember = z
  .string()
  .exactOptional()
  .describe('the password; without it one is made and shown')
  .register(SPELLINGS, { secret: true });

export const passwordShown = z
  .string()
  .exactOptional()
  .describe('the password that was made, shown only this once');
