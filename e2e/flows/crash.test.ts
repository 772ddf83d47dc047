import { expect, test } from '@jest/globals';
import { crash } from './crashes.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';

test.each(STORE_KINDS)(
  'on %s: of 20 kill -9 at random moments none loses or halves what was acknowledged',
  async (kind) => {
    await using flow = await startFlowOn(kind, { resource: 2 });
    const tally = await crash(flow, 20);
    expect(tally.kills).toBe(20);
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(0);
  },
  120_000,
);
