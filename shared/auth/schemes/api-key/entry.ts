import type { SchemeRealm, SchemeEntry, SchemeParts } from '../parts/scheme-entry.ts';
import { type ApiKeySettings, apiKeySettings } from './settings.ts';

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
