import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { SchemeEntry, SchemeParts, SchemeRealm } from '../parts/scheme-entry.ts';
import { type MutualSettings, mutualSettings } from './settings.ts';
import { mutualVerifier } from './verifier.ts';

export const mutualEntry = {
  name: 'Mutual',
  forPeople: true,
  passwordAlone: true,
  settings: { mutual: mutualSettings },
  verifier: mutualVerifier,
  trial: { path: 'mutual' },
  async open({ stores, verifiers, attempts, exchanges, master, clock, random }: SchemeParts) {
    const [{ mutual }, { kam3Threads: kam3 }] = await Promise.all([
      import('./mutual.ts'),
      import('./kam3-threads.ts'),
    ]);
    const { sessions, useCounts, limits } = stores;
    const secret = derivedKey(master, 'mutual');
    const shared = {
      verifiers,
      sessions,
      useCounts,
      attempts,
      limits,
      exchanges,
      secret,
      clock,
      random,
      kam3,
    };
    return ({
      realm,
      domain,
      mutual: { algorithm, certificate },
    }: SchemeRealm & { readonly mutual: MutualSettings }) =>
      mutual({
        ...shared,
        realm,
        algorithm,
        ...(domain && { domain }),
        certificate:
          certificate === undefined
            ? undefined
            : new X509Certificate(readFileSync(certificate)).raw,
      });
  },
} as const satisfies SchemeEntry;
