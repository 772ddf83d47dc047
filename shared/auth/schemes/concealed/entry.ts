import * as z from 'zod';
import type { SchemeEntry, SchemeParts, SchemeRealm, SchemeSpace } from '../parts/scheme-entry.ts';

/** The member `concealed` of a space. */
const concealedSettings = z
  .strictObject({
    frontend: z
      .boolean()
      .default(false)
      .describe(
        'Trusts the field Concealed-Auth-Export in requests from `trustedProxies`. Each of these proxies must terminate TLS itself, and overwrite this field if a client sends it (RFC 9729 section 6.2).',
      ),
  })
  .prefault({})
  .describe('Settings of the scheme Concealed.');

type ConcealedSettings = z.infer<typeof concealedSettings>;

export const concealedEntry = {
  name: 'Concealed',
  forPeople: true,
  settings: { concealed: concealedSettings },
  trial: { path: 'concealed', quiet: true },
  async open({ stores, clock, admitted, secondFactor }: SchemeParts) {
    const { concealed } = await import('./concealed.ts');
    const { publicKeys, people, secondFactors } = stores;
    const shared = { publicKeys, people, secondFactor, secondFactors, clock, admitted };
    return (at: (SchemeRealm | SchemeSpace) & { readonly concealed: ConcealedSettings }) =>
      concealed({
        ...shared,
        realm: at.realm,
        applications: 'url' in at,
        frontend: at.concealed.frontend,
      });
  },
} as const satisfies SchemeEntry;
