import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../../flows/flow.ts';
import { compareTwoWays } from './two-ways.ts';

/** `npm run soak -- two-ways` sends 100,000 requests. */
const REQUESTS = 1000;

test.each(STORE_KINDS)(
  '%s: the optimized code gives the same answers as code that awaits everything and caches nothing',
  async (kind) => {
    const { statuses, ended } = await compareTwoWays(kind, { seed: 1, requests: REQUESTS });
    const met = [200, 204, 400, 401, 403, 404, 405, 501];
    expect(Object.keys(statuses).map(Number)).toEqual(expect.arrayContaining(met));
    for (const status of [200, 204, 401]) expect(statuses[status]).toBeGreaterThan(20);
    expect(ended).toBeGreaterThan(50);
  },
);
