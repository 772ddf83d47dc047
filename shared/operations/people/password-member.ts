import { z } from 'zod';

/** A new password; `judgePassword` says which may be one. */
export const passwordMember = z
  .string()
  .exactOptional()
  .describe('the password; without it one is made and shown');

export const passwordShown = z
  .string()
  .exactOptional()
  .describe('the password that was made, shown only this once');
