import { afterAll, beforeAll, describe } from '@jest/globals';
import { absentPeopleContract } from './absent-people.ts';
import { aliasesContract } from './aliases.ts';
import { apiKeysContract } from './api-keys.ts';
import { artefactsContract } from './artefacts.ts';
import { blocksContract } from './blocks.ts';
import { cacheReportsContract } from './cache-reports.ts';
import { clientsContract } from './clients.ts';
import { commitsContract } from './commits.ts';
import { contentContract } from './content.ts';
import { verifiersContract } from './verifiers.ts';
import { editsContract } from './edits.ts';
import { followersContract } from './followers.ts';
import { generationsContract } from './generations.ts';
import { growthContract } from './growth.ts';
import { invalidationsContract } from './invalidations.ts';
import { keptContract } from './kept.ts';
import { keysContract } from './keys.ts';
import { lifecycleContract } from './lifecycle.ts';
import { limitsContract } from './limits.ts';
import { listingContract } from './listing.ts';
import { peopleContract } from './people.ts';
import { publicKeysContract } from './public-keys.ts';
import { racingContract } from './racing.ts';
import { removingPeopleContract } from './removing-people.ts';
import { rereadingContract } from './rereading.ts';
import { replayContract } from './replay.ts';
import { replacingContract } from './replacing.ts';
import { revocationsContract } from './revocations.ts';
import { sessionsContract } from './sessions.ts';
import { spentTokensContract } from './spent-tokens.ts';
import type { Contract, StoreUnderTest } from './store-under-test.ts';
import { tokenKeysContract } from './token-keys.ts';
import { modelContract } from './tree-model.ts';
import { treesContract } from './trees.ts';
import { useCountsContract } from './use-counts.ts';
import { usingContract } from './using.ts';
import { versionsContract } from './versions.ts';

const PARTS = [
  lifecycleContract,
  artefactsContract,
  replacingContract,
  usingContract,
  listingContract,
  cacheReportsContract,
  clientsContract,
  keptContract,
  keysContract,
  limitsContract,
  blocksContract,
  peopleContract,
  absentPeopleContract,
  aliasesContract,
  verifiersContract,
  removingPeopleContract,
  apiKeysContract,
  publicKeysContract,
  replayContract,
  sessionsContract,
  treesContract,
  editsContract,
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

/** The one suite that every store passes, against the real thing. `setup` runs once. */
export function storesContract(name: string, setup: () => Promise<StoreUnderTest>): void {
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
    for (const part of PARTS) part(() => contract);
  });
}
