import { expect, test } from '@jest/globals';
import { STORE_KINDS } from '../flows/flow.ts';
import { crashAudit } from './audit-crashes.ts';

const KILLS = 4;

test.each(STORE_KINDS)(
  'on %s: after 4 kill -9 during changes, each change is stored with its audit event or not at all, and the log verifies',
  async (kind) => {
    const { kills, acknowledged, closed } = await crashAudit(kind, KILLS);
    expect(kills).toBe(KILLS);
    expect(acknowledged).toBeGreaterThan(KILLS);
    expect(closed).toBeGreaterThan(0);
  },
);
