import * as z from 'zod';
import { fieldName, rate } from '#shared/base/members.ts';

/** The member `apiKey` of a space. */
export const apiKeySettings = z
  .strictObject({
    field: fieldName.default('X-API-Key').describe('Request field that carries the key.'),
    query: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a query parameter')
      .optional()
      .describe('Also takes keys in this query parameter. Keys in URLs end up in logs.'),
    limit: rate.default({ burst: 100, per: 0.6 }).describe('Requests with one key.'),
    beside: z
      .boolean()
      .default(false)
      .describe(
        "Also takes the key of an application beside a person's credentials, and counts the request against its limit.",
      ),
  })
  .prefault({})
  .describe('Settings of the scheme API-Key.');

export type ApiKeySettings = z.infer<typeof apiKeySettings>;
