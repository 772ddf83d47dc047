import { expect, test } from '@jest/globals';
import { crash } from './crashes.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';

test.each(STORE_KINDS)(
  'on %s: after 12 kill -9 at random moments no acknowledged write is lost or partial',
  async (kind) => {
    await using flow = await startFlowOn(kind, { resource: 2 });
    const tally = await crash(flow, 12);
    expect(tally.kills).toBe(12);
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(0);
  },
);
