import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../flows/flow.ts';
import { crashTrees } from './tree-crashes.ts';
import { assertAlive, startTreeServers } from './trees.fixture.ts';

const KILLS = 8;

test.each(STORE_KINDS)(
  'on %s: after 8 kill -9 during PUT, MOVE, COPY, DELETE, PROPPATCH and LOCK each change is done completely or not at all',
  async (kind) => {
    await using servers = await startTreeServers(kind);
    const { kills, acknowledged, silent, undone, swept } = await crashTrees(servers, KILLS);
    expect(kills).toBe(KILLS);
    // Each kill interrupted the endless PUT, and every other change is accounted for.
    expect(undone).toBeGreaterThanOrEqual(KILLS);
    expect(acknowledged + silent + undone).toBe(11 * KILLS);
    expect(swept).toBeGreaterThan(0);
    await assertAlive(servers);
  },
);
