import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createLanes } from './lanes.ts';

test('never more than the lanes run, all that were taken in end, the rest is told so', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 5 }),
      fc.array(fc.record({ steps: fc.integer({ min: 1, max: 5 }), fails: fc.boolean() }), {
        maxLength: 20,
      }),
      async (lanes, waiting, jobs) => {
        const run = createLanes(lanes, waiting);
        let running = 0;
        let most = 0;
        const started: number[] = [];
        const settled = await Promise.allSettled(
          jobs.map(({ steps, fails }, index) =>
            run(async () => {
              started.push(index);
              running += 1;
              most = Math.max(most, running);
              for (let step = 0; step < steps; step += 1) await Promise.resolve();
              running -= 1;
              if (fails) throw new Error('of the work');
              return index;
            }),
          ),
        );
        const taken = Math.min(jobs.length, lanes + waiting);
        expect(most).toBe(Math.min(jobs.length, lanes));
        expect(started).toEqual(Array.from({ length: taken }, (_, index) => index));
        settled.forEach((result, index) => {
          if (index >= taken) {
            expect(result).toMatchObject({ reason: expect.any(StoreUnavailable) });
          } else expect(result.status).toBe(jobs[index]?.fails ? 'rejected' : 'fulfilled');
        });
        // All lanes are free again.
        await expect(
          Promise.all(Array.from({ length: lanes }, () => run(async () => 1))),
        ).resolves.toHaveLength(lanes);
      },
    ),
  );
});
