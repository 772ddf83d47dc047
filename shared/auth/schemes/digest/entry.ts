import { derivedKey } from '#shared/base/derived-key.ts';
import type { SchemeRealm, SchemeEntry, SchemeParts } from '../parts/scheme-entry.ts';
import { type DigestSettings, digestSettings } from './settings.ts';
import { digestVerifier } from './verifier.ts';

export const digestEntry = {
  name: 'Digest',
  forPeople: true,
  passwordAlone: true,
  settings: { digest: digestSettings },
  verifier: digestVerifier,
  trial: { path: 'digest', members: { digest: { qop: ['auth', 'auth-int'] } } },
  async open({ stores, verifiers, attempts, master, clock, random }: SchemeParts) {
    const { digest } = await import('./digest.ts');
    const { createNonces } = await import('../../credentials/nonces.ts');
    const nonces = createNonces({ secret: derivedKey(master, 'digest-nonce'), clock, random });
    const { useCounts } = stores;
    return ({ realm, domain, digest: offer }: SchemeRealm & { readonly digest: DigestSettings }) =>
      digest({
        realm,
        ...offer,
        ...(domain && { domain }),
        verifiers,
        nonces,
        useCounts,
        attempts,
        random,
      });
  },
} as const satisfies SchemeEntry;
