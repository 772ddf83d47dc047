import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
  type DigestHash,
} from '#shared/http/auth/digest-algorithms.ts';
import type { ScramHash } from '#shared/stores/people.ts';

/** What a realm has to keep of each person, so that its schemes can let them in. */
export interface RealmNeeds {
  readonly realm: string;
  readonly digest: readonly DigestHash[];
  readonly scram: readonly ScramHash[];
}

const SCRAM: Readonly<Record<string, ScramHash>> = {
  'SCRAM-SHA-1': 'SHA-1',
  'SCRAM-SHA-256': 'SHA-256',
};

/** A protection space, or the proxy, as far as it says what its schemes work with. */
interface Offer {
  readonly realm: string;
  readonly schemes: readonly string[];
  readonly digest: { readonly algorithms: readonly DigestAlgorithmName[] };
}

/** By realm, all that the configuration offers; realms that keep nothing are left out. */
export function realmNeeds({
  spaces,
  proxy,
}: {
  readonly spaces: readonly Offer[];
  readonly proxy?: Offer | undefined;
}): RealmNeeds[] {
  const needs = new Map<string, { digest: Set<DigestHash>; scram: Set<ScramHash> }>();
  for (const { realm, schemes, digest } of [...spaces, ...(proxy ? [proxy] : [])]) {
    const known = needs.get(realm) ?? { digest: new Set(), scram: new Set() };
    needs.set(realm, known);
    for (const scheme of schemes) {
      const hash = SCRAM[scheme];
      if (hash !== undefined) known.scram.add(hash);
      if (scheme !== 'Digest') continue;
      for (const algorithm of digest.algorithms)
        known.digest.add(DIGEST_ALGORITHMS[algorithm].hash);
    }
  }
  return [...needs]
    .map(([realm, { digest, scram }]) => ({ realm, digest: [...digest], scram: [...scram] }))
    .filter(({ digest, scram }) => digest.length + scram.length > 0);
}
