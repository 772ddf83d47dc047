import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../../flows/flow.ts';
import { runSchedules } from './schedules.ts';

/** `npm run soak -- cache` runs 1000 schedules. */
const SCHEDULES = 12;

test.each(STORE_KINDS)(
  `RFC 9111 section 4.4, on %s: with two gateways and kill -9, no answer is stale, partial or a mixture of versions`,
  async (kind) => {
    const tally = await runSchedules(kind, { seed: 1, schedules: SCHEDULES });
    expect(tally.schedules).toBe(SCHEDULES);
    for (const count of [tally.kills, tally.hits, tally.written, tally.purged, tally.banned]) {
      expect(count).toBeGreaterThan(0);
    }
    expect(tally.broken + tally.refused).toBeLessThan(tally.read);
  },
);
