import { describe } from '@jest/globals';
import { boundsContract } from './bounds.ts';
import { findingContract } from './finding.ts';
import { racesContract } from './races.ts';
import { removingContract } from './removing.ts';
import type { StoreUnderTest } from './under-test.ts';
import { writingContract } from './writing.ts';

const PARTS = {
  finding: findingContract,
  writing: writingContract,
  removing: removingContract,
  races: racesContract,
};

/** The contract of every store of the cache. */
export function cacheStoreContract(store: StoreUnderTest): void {
  describe(`the contract of stores of answers: ${store.name}`, () => {
    for (const [name, contract] of Object.entries(PARTS)) describe(name, () => contract(store));
    if (!store.each) describe('bounds', () => boundsContract(store));
  });
}
