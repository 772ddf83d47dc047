import * as z from 'zod';
import { oauthSpace } from '../parts/oauth.ts';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';

/** Members of a space's configuration for DPoP. */
const dpopSettings = {
  nonce: z
    .boolean()
    .default(false)
    .describe('DPoP proofs must carry a nonce of the server (RFC 9449 section 9).'),
};

export const dpopEntry = {
  name: 'DPoP',
  forPeople: false,
  settings: dpopSettings,
  async open({ oauth }: SchemeParts) {
    return ({ nonce, ...space }: SchemeSpace & { readonly nonce: boolean }) =>
      oauth.dpop({ ...oauthSpace(space), nonce });
  },
} as const satisfies SchemeEntry;
