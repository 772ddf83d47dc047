import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../../flows/flow.ts';
import { runSchedules } from './schedules.ts';

/** `npm run soak -- cache` has a thousand. */
const SCHEDULES = 12;

test.each(STORE_KINDS)(
  `RFC 9111 section 4.4, on %s: over two gateways, amid kill -9, no answer is older than what was acknowledged, none is a part or a mixture`,
  async (kind) => {
    const tally = await runSchedules(kind, { seed: 1, schedules: SCHEDULES });
    expect(tally.schedules).toBe(SCHEDULES);
    for (const count of [tally.kills, tally.hits, tally.written, tally.purged, tally.banned]) {
      expect(count).toBeGreaterThan(0);
    }
    expect(tally.broken + tally.refused).toBeLessThan(tally.read);
  },
);
