import { describe, test } from '@jest/globals';
import type { Plan, Steps } from './plan.ts';

/** Performs each module of a plan that is not skipped, as a test with the name of the module. */
export function perform<P extends Plan>(plan: P, steps: Steps<P>): void {
  describe(plan.name, () => {
    for (const [name, step] of Object.entries<() => Promise<void>>(steps)) {
      test(`${name}: ${plan.modules[name]?.demands}`, step);
    }
  });
}
