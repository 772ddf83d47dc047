import { oauthSpace } from '../parts/oauth.ts';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';

export const bearerEntry = {
  name: 'Bearer',
  forPeople: false,
  settings: {},
  async open({ oauth }: SchemeParts) {
    return (space: SchemeSpace) => oauth.bearer(oauthSpace(space));
  },
} as const satisfies SchemeEntry;
