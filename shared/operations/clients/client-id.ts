import * as z from 'zod';
import { SPELLINGS } from '../texts.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The identifier of a client that is registered. */
export const clientId = z
  .string()
  .min(1, fault(said('reference', { what: 'the client_id of a client' })))
  .max(512, fault(said('reference', { what: 'the client_id of a client' })))
  .describe('the client_id')
  .register(SPELLINGS, { value: 'CLIENT' });
