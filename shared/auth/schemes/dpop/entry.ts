import { oauthSpace } from '../oauth.ts';
import type { SchemeEntry, SchemeParts, SpaceSite } from '../scheme-entry.ts';
import { dpopSettings } from './settings.ts';

export const dpopEntry = {
  name: 'DPoP',
  forPeople: false,
  settings: dpopSettings,
  async open({ oauth }: SchemeParts) {
    return ({ nonce, ...site }: SpaceSite & { readonly nonce: boolean }) =>
      oauth.dpop({ ...oauthSpace(site), nonce });
  },
} as const satisfies SchemeEntry;
