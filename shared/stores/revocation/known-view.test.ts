import { expect, test } from '@jest/globals';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { knownView } from './known-view.ts';
import { RevocationSet } from './revocation-set.ts';

const known = new RevocationSet();
const asked = new RevocationSet();
const silent = () => {
  throw new StoreUnavailable('the revocations are not known');
};

test('the store is not asked for a view that the process knows', () => {
  expect(knownView({ current: () => known, latest: silent })).toBe(known);
});

test('after a silence the store is asked, and only a failure of this query counts', async () => {
  expect(await knownView({ current: silent, latest: async () => asked })).toBe(asked);
  expect(() => knownView({ current: silent, latest: silent })).toThrow(StoreUnavailable);
});
