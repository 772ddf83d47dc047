import { afterAll, beforeAll, describe } from '@jest/globals';
import { absentPeopleContract } from './people/absent-people.ts';
import { aliasesContract } from './people/aliases.ts';
import { searchKeysContract } from './people/search-keys.ts';
import { apiKeysContract } from './credentials/api-keys.ts';
import { auditContract } from './audit/audit.ts';
import { recordedContract } from './audit/recorded.ts';
import { artefactsContract } from './oauth/artefacts.ts';
import { blocksContract } from './limits/blocks.ts';
import { cacheReportsContract } from './cache/cache-reports.ts';
import { clientKeysContract } from './oauth/client-keys.ts';
import { clientsContract } from './oauth/clients.ts';
import { commitsContract } from './trees/commits.ts';
import { contentContract } from './trees/content.ts';
import { declaredContract } from './declared/declared.ts';
import { verifiersContract } from './people/verifiers.ts';
import { editsContract } from './trees/edits.ts';
import { locksContract } from './trees/locks.ts';
import { followersContract } from './revocation/followers.ts';
import { generationsContract } from './revocation/generations.ts';
import { growthContract } from './oauth/growth.ts';
import { invalidationsContract } from './cache/invalidations.ts';
import { keptContract } from './trees/kept.ts';
import { keysContract } from './keys/keys.ts';
import { lastBackupContract } from './last-backup/last-backup.ts';
import { lifecycleContract } from './lifecycle.ts';
import { limitsContract } from './limits/limits.ts';
import { listingContract } from './oauth/listing.ts';
import { artefactsOfClientsContract } from './oauth/of-clients.ts';
import { logoutsContract } from './logout/logouts.ts';
import { outboxContract } from './mail/outbox.ts';
import { passkeysContract } from './credentials/passkeys.ts';
import { peopleContract } from './people/people.ts';
import { pushContract } from './push/push.ts';
import { pushReceiptsContract } from './push/receipts.ts';
import { proofsContract } from './authentication/proofs.ts';
import { publicKeysContract } from './credentials/public-keys.ts';
import { racingContract } from './racing/racing.ts';
import { removingPeopleContract } from './people/removing-people.ts';
import { rereadingContract } from './rereading.ts';
import { replayContract } from './authentication/replay.ts';
import { replacingContract } from './oauth/replacing.ts';
import { revocationsContract } from './revocation/revocations.ts';
import { secondFactorsContract } from './credentials/second-factors.ts';
import { sessionsContract } from './authentication/sessions.ts';
import { spentTokensContract } from './authentication/spent-tokens.ts';
import type { Contract, StoreUnderTest } from './store-under-test.ts';
import { tokenKeysContract } from './keys/token-keys.ts';
import { modelContract } from './trees/tree-model.ts';
import { treesContract } from './trees/trees.ts';
import { useCountsContract } from './authentication/use-counts.ts';
import { usingContract } from './oauth/using.ts';
import { versionsContract } from './trees/versions.ts';

type Part = (contract: () => Contract) => void;

export const PARTS: readonly Part[] = [
  lifecycleContract,
  artefactsContract,
  replacingContract,
  usingContract,
  listingContract,
  artefactsOfClientsContract,
  cacheReportsContract,
  clientsContract,
  clientKeysContract,
  declaredContract,
  keptContract,
  keysContract,
  lastBackupContract,
  limitsContract,
  blocksContract,
  peopleContract,
  absentPeopleContract,
  aliasesContract,
  searchKeysContract,
  verifiersContract,
  removingPeopleContract,
  apiKeysContract,
  publicKeysContract,
  passkeysContract,
  secondFactorsContract,
  outboxContract,
  logoutsContract,
  auditContract,
  recordedContract,
  pushContract,
  pushReceiptsContract,
  replayContract,
  proofsContract,
  sessionsContract,
  treesContract,
  editsContract,
  locksContract,
  commitsContract,
  versionsContract,
  contentContract,
  modelContract,
  useCountsContract,
  tokenKeysContract,
  spentTokensContract,
  revocationsContract,
  followersContract,
  invalidationsContract,
  generationsContract,
  rereadingContract,
  racingContract,
  growthContract,
];

/** The parts whose changes Redis announces, if Redis is used beside PostgreSQL. */
export const TOLD_PARTS: readonly Part[] = [
  revocationsContract,
  generationsContract,
  followersContract,
  invalidationsContract,
];

/** The parts that Redis stores, if it is used beside PostgreSQL. */
export const BESIDE_PARTS: readonly Part[] = [
  cacheReportsContract,
  keptContract,
  limitsContract,
  blocksContract,
  proofsContract,
  sessionsContract,
  useCountsContract,
];

/** The suite that every real store passes. `setup` runs once. `parts`: the parts that this store has. */
export function storesContract(
  name: string,
  setup: () => Promise<StoreUnderTest>,
  parts: readonly Part[] = PARTS,
): void {
  describe(name, () => {
    let contract: Contract;
    beforeAll(async () => {
      const store = await setup();
      contract = { store, one: await store.open(), other: await store.open() };
    });
    afterAll(async () => {
      await contract.one[Symbol.asyncDispose]();
      await contract.other[Symbol.asyncDispose]();
      await contract.store.end();
    });
    for (const part of parts) part(() => contract);
  });
}
