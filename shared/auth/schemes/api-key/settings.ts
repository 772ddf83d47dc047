import { z } from 'zod';
import { fieldName, rate } from '#shared/base/members.ts';

/** The member `apiKey` of a space. */
export const apiKeySettings = z
  .strictObject({
    field: fieldName.default('X-API-Key'),
    query: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a query parameter')
      .optional()
      .describe(
        'takes keys in this query parameter as well, where they end up in the logs of others',
      ),
    limit: rate.default({ burst: 100, per: 0.6 }).describe('requests with one key'),
    beside: z
      .boolean()
      .default(false)
      .describe("takes the key of an application beside the person's credentials, for its limit"),
  })
  .prefault({});

export type ApiKeySettings = z.infer<typeof apiKeySettings>;
