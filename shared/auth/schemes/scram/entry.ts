import { derivedKey } from '#shared/base/derived-key.ts';
import type { SchemeRealm, SchemeEntry, SchemeParts } from '../parts/scheme-entry.ts';
import type { ScramHash } from './hashes.ts';
import { SCRAM_KINDS } from './verifier.ts';

/** RFC 7804: one scheme for each hash. */
const scramEntry = <Hash extends ScramHash>(hash: Hash) =>
  ({
    name: `SCRAM-${hash}`,
    forPeople: true,
    passwordAlone: true,
    settings: {},
    verifier: { kinds: [SCRAM_KINDS[hash]], neededBy: () => [SCRAM_KINDS[hash]] },
    trial: { path: `scram-${hash.toLowerCase()}` },
    async open({ stores, verifiers, attempts, master, clock, random }: SchemeParts) {
      const { scram } = await import('./scram.ts');
      const { sessions, useCounts, limits } = stores;
      const secret = derivedKey(master, 'scram');
      const own = { hash, secret, clock, random };
      const shared = { ...own, verifiers, sessions, useCounts, attempts, limits };
      return ({ realm }: SchemeRealm) => scram({ ...shared, realm });
    },
  }) as const satisfies SchemeEntry;

export const scramSha1Entry = scramEntry('SHA-1');
export const scramSha256Entry = scramEntry('SHA-256');
