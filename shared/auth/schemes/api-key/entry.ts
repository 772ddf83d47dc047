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
      .describe('Accepts keys in this query parameter, too. Keys in URLs often appear in logs.'),
    limit: rate.default({ burst: 100, per: 0.6 }).describe('Requests with one key.'),
    beside: z
      .boolean()
      .default(false)
      .describe(
        'Accepts the API key of an application beside the credentials of a person. The request then counts against the limit of the key.',
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
  async open({ stores: { apiKeys, limits }, attempts, clock, admitted: { demo } }: SchemeParts) {
    const { apiKey } = await import('./api-key.ts');
    const shared = { apiKeys, limits, attempts, clock, demo };
    return ({
      realm,
      apiKey: { field, query, limit },
    }: SchemeRealm & { readonly apiKey: ApiKeySettings }) =>
      apiKey({ ...shared, realm, field, ...(query !== undefined && { query }), limit });
  },
} as const satisfies SchemeEntry;
