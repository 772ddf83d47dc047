import type { SchemeEntry, SchemeParts, SchemeRealm, SchemeSpace } from '../parts/scheme-entry.ts';
import { type ConcealedSettings, concealedSettings } from './settings.ts';

export const concealedEntry = {
  name: 'Concealed',
  forPeople: true,
  settings: { concealed: concealedSettings },
  trial: { path: 'concealed', quiet: true },
  async open({ stores, clock, demo, secondFactor }: SchemeParts) {
    const { concealed } = await import('./concealed.ts');
    const { publicKeys, people, secondFactors } = stores;
    const shared = { publicKeys, people, secondFactor, secondFactors, clock, demo };
    return (at: (SchemeRealm | SchemeSpace) & { readonly concealed: ConcealedSettings }) =>
      concealed({
        ...shared,
        realm: at.realm,
        applications: 'url' in at,
        frontend: at.concealed.frontend,
      });
  },
} as const satisfies SchemeEntry;
