import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';

/** The identifier of a client that is registered. */
export const clientId = z
  .string()
  .min(1, 'must be the client_id of a client')
  .max(512, 'must be the client_id of a client')
  .describe('the client_id')
  .register(SPELLINGS, { value: 'CLIENT' });
