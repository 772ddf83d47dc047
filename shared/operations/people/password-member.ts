import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';

/** A new password; `judgePassword` checks it. */
export const passwordMember = z
  .string()
  .exactOptional()
  .describe('the password; default: the server makes a password and shows it')
  .register(SPELLINGS, { secret: true });

export const passwordShown = z
  .string()
  .exactOptional()
  .describe('the password that the server made, shown only this once');
