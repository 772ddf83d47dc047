import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';
import { gnapSettings } from './settings.ts';

export const gnapEntry = {
  name: 'GNAP',
  forPeople: false,
  settings: { gnap: gnapSettings },
  trial: {
    path: 'gnap',
    members: { scopes: { safe: ['schemes'], unsafe: ['schemes'] } },
  },
  async open({ issuer, mtls, tokens, stores: { replay }, clock }: SchemeParts) {
    const { gnap } = await import('./gnap.ts');
    const grantEndpoint = `${issuer}/gnap`;
    return (space: SchemeSpace) => gnap({ space, grantEndpoint, mtls, tokens, replay, clock });
  },
} as const satisfies SchemeEntry;
