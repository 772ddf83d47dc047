import { oauthSpace } from '../oauth.ts';
import type { SchemeEntry, SchemeParts, SpaceSite } from '../scheme-entry.ts';

export const bearerEntry = {
  name: 'Bearer',
  forPeople: false,
  settings: {},
  async open({ oauth }: SchemeParts) {
    return (site: SpaceSite) => oauth.bearer(oauthSpace(site));
  },
} as const satisfies SchemeEntry;
