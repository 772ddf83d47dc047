import type { SchemeRealm, SchemeEntry, SchemeParts } from '../parts/scheme-entry.ts';

export const negotiateEntry = {
  name: 'Negotiate',
  forPeople: true,
  passwordAlone: true,
  settings: {},
  trial: { path: 'negotiate' },
  async open({ gss, verifiers, stores: { replay }, attempts, clock }: SchemeParts) {
    const { negotiate } = await import('./negotiate.ts');
    return ({ realm }: SchemeRealm) =>
      negotiate({ realm, gss, verifiers, replay, attempts, clock });
  },
} as const satisfies SchemeEntry;
