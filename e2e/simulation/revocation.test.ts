/**
 * No follower accepts a revoked token once the revocation is acknowledged, whatever happens to machines,
 * clocks and the network.
 */
import { describe, expect, test } from '@jest/globals';
import { type Outcome, type Scenario, simulateRevocation } from './revocation.ts';

const SEEDS = [1, 2, 3];
const SHORT: Omit<Scenario, 'seed'> = {
  followers: 24,
  rate: 100,
  seconds: 5,
  faults: 1_000,
  loss: 0.01,
  drift: 0.04,
};

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

async function simulateAll(changes: Partial<Scenario>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const seed of SEEDS) outcomes.push(await simulateRevocation({ ...SHORT, seed, ...changes }));
  return outcomes;
}

describe('a simulation of three regions', () => {
  test('no revoked token is accepted after the acknowledgement, with cuts, pauses, kills, losses and clock drift', async () => {
    const outcomes = await simulateAll({});
    expect(sum(outcomes.map(({ letIn }) => letIn))).toBe(0);
    expect(sum(outcomes.map(({ faults }) => faults))).toBe(SEEDS.length * 4);
    expect(sum(outcomes.map(({ acknowledged }) => acknowledged))).toBeGreaterThan(500);
    const verdicts = outcomes.flatMap((outcome) => outcome.verdicts);
    expect(sum(verdicts.map(({ all }) => all))).toBeGreaterThan(5_000);
    expect(sum(verdicts.map(({ unavailable }) => unavailable))).toBeGreaterThan(0);
  });

  test('control: finds a lease that is longer than the wait of revocations', async () => {
    const outcomes = await simulateAll({ trusts: 2 });
    expect(sum(outcomes.map(({ letIn }) => letIn))).toBeGreaterThan(0);
  });

  test('followers 300 ms away keep up with 5,000 revocations a second', async () => {
    const quiet = { faults: Infinity, loss: 0, followers: 6, rate: 5_000, seconds: 1 };
    const { letIn, verdicts, acknowledged } = await simulateRevocation({
      ...SHORT,
      seed: 1,
      ...quiet,
    });
    expect([letIn, sum(verdicts.map(({ unavailable }) => unavailable))]).toEqual([0, 0]);
    expect(acknowledged).toBe(5_000);
  });

  test('a revocation is acknowledged after the round trip of 300 ms to the farthest follower, not at the end of held polls', async () => {
    const quiet = { faults: Infinity, loss: 0, drift: 0, followers: 6, rate: 2 };
    const { took, acknowledged } = await simulateRevocation({ ...SHORT, seed: 1, ...quiet });
    expect(acknowledged).toBe(10);
    // Simulated milliseconds, which are the same on each machine.
    expect(took.most).toBeLessThan(400);
  });

  test('the same seed has the same result', async () => {
    const one = { ...SHORT, seed: 7, seconds: 1 };
    expect(await simulateRevocation(one)).toEqual(await simulateRevocation(one));
  });
});
