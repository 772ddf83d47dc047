import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../flows/flow.ts';
import { crashAudit } from './audit-crashes.ts';

const KILLS = 4;

test.each(STORE_KINDS)(
  'on %s: after each of 4 kill -9 amid changes a change and its event are there both or neither, and the log verifies',
  async (kind) => {
    const { kills, acknowledged, closed } = await crashAudit(kind, KILLS);
    expect(kills).toBe(KILLS);
    expect(acknowledged).toBeGreaterThan(KILLS);
    expect(closed).toBeGreaterThan(0);
  },
);
