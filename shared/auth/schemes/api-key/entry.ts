import * as z from 'zod';
import type { SchemeEntry, SchemeParts, SchemeRealm } from '../parts/scheme-entry.ts';
import { fieldName, rate } from '#shared/base/members.ts';

/** The member `apiKey` of a space. */
const apiKeySettings = z
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

type ApiKeySettings = z.infer<typeof apiKeySettings>;

export const apiKeyEntry = {
  name: 'API-Key',
  forPeople: false,
  settings: { apiKey: apiKeySettings },
  trial: { path: 'api-key' },
  async open({ stores: { apiKeys, limits }, attempts, clock, demo }: SchemeParts) {
    const { apiKey } = await import('./api-key.ts');
    const shared = { apiKeys, limits, attempts, clock, demo };
    return ({
      realm,
      apiKey: { field, query, limit },
    }: SchemeRealm & { readonly apiKey: ApiKeySettings }) =>
      apiKey({ ...shared, realm, field, ...(query !== undefined && { query }), limit });
  },
} as const satisfies SchemeEntry;
