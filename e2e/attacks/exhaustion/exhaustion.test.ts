import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ATTACKS } from './attacks.ts';
import { exhaust } from './exhaustion.ts';
import { type Site, startSite } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** The attacks that need only one or two addresses. */
const FEW = Object.entries(ATTACKS).filter(([name]) => name !== 'many-places');

test.each(FEW.map(([name, attack]) => [name, attack.title, attack] as const))(
  'three visitors are all served during the attack %s: %s',
  async (_name, _title, attack) => {
    const { attacked } = await exhaust(site, attack, { slices: 1, milliseconds: 300 });
    expect(attacked.flatMap(({ failures }) => failures)).toEqual([]);
    expect(attacked[0]?.visits).toBeGreaterThan(0);
  },
);
