import { oauthSpace } from '../parts/oauth.ts';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';
import { dpopSettings } from './settings.ts';

export const dpopEntry = {
  name: 'DPoP',
  forPeople: false,
  settings: dpopSettings,
  async open({ oauth }: SchemeParts) {
    return ({ nonce, ...space }: SchemeSpace & { readonly nonce: boolean }) =>
      oauth.dpop({ ...oauthSpace(space), nonce });
  },
} as const satisfies SchemeEntry;
