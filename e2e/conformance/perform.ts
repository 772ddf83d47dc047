import { describe, test } from '@jest/globals';
import type { Plan, Steps } from './plan.ts';

/** Performs each module of a plan that is not skipped, as a test with the name of the module. */
export function perform<P extends Plan>(plan: P, steps: Steps<P>): void {
  describe(plan.name, () => {
    const byName = new Map<string, () => Promise<void>>(Object.entries(steps));
    for (const [name, { demands }] of Object.entries(plan.modules)) {
      const step = byName.get(name);
      if (step !== undefined) test(`${name}: ${demands}`, step);
    }
  });
}
