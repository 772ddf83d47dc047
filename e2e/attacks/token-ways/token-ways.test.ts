import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../../flows/flow.ts';
import { compareTokenWays } from './token-ways.ts';

/** `npm run soak -- token-ways` sends 20,000 requests. */
const REQUESTS = 600;

test.each(STORE_KINDS)(
  '%s: client credentials handled directly get the same answers as through oidc-provider',
  async (kind) => {
    const statuses = await compareTokenWays(kind, { seed: 1, requests: REQUESTS });
    expect(Object.keys(statuses).map(Number)).toEqual(expect.arrayContaining([200, 400, 401]));
    for (const status of [200, 400, 401]) expect(statuses[status]).toBeGreaterThan(50);
  },
);
