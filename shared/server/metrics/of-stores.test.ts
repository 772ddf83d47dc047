import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { createMetrics } from './metrics.ts';
import { measuredStores } from './of-stores.ts';
import { textOf } from './text-format.js';

/** A store as a class, whose verbs use private members. */
class SpentTokens {
  readonly #spent = new Set<string>();
  #last: string | undefined;
  readonly clock: ManualClock;
  constructor(clock: ManualClock) {
    this.clock = clock;
  }
  async spend(token: Buffer): Promise<boolean> {
    this.#last = token.toString();
    this.clock.advance(0.002);
    const first = !this.#spent.has(this.#last);
    this.#spent.add(this.#last);
    return first;
  }
}

function measured() {
  const clock = new ManualClock();
  const metrics = createMetrics('resource', 1);
  let ok = true;
  const stores = {
    spentTokens: new SpentTokens(clock),
    limits: { spend: () => ({ ok, retryAfter: 1 }) },
    revocations: {
      revoke: async () => {},
      raise: async () => 1,
      generation: () => Promise.reject(new Error('down')),
    },
    trees: { longestContent: 7, commit: async () => {} },
    ping: async () => {},
    recorded: () => ({ revoke: async () => {} }),
  } as unknown as Stores;
  const wrapped = measuredStores(stores, metrics, clock);
  const lines = () =>
    textOf(metrics.report())
      .split('\n')
      .filter((line) => !line.startsWith('#') && !line.includes('_bucket'));
  return { wrapped, stores, lines, empty: () => (ok = false) };
}

const RATE = { burst: 1, per: 1 };

test('each verb is timed, synchronous or not, and failures are timed, too', async () => {
  const { wrapped, lines } = measured();
  await wrapped.spentTokens.spend(Buffer.from('a'), 0);
  expect(wrapped.limits.spend('client', 'a', RATE)).toEqual({ ok: true, retryAfter: 1 });
  await expect(wrapped.revocations.generation('person', 'p')).rejects.toThrow('down');
  expect(lines()).toEqual(
    expect.arrayContaining([
      'countersign_store_duration_seconds_sum{server="resource",operation="spentTokens.spend"} 0.002',
      'countersign_store_duration_seconds_count{server="resource",operation="limits.spend"} 1',
      'countersign_store_duration_seconds_count{server="resource",operation="revocations.generation"} 1',
    ]),
  );
});

test('members that are no stores are not changed', () => {
  const { wrapped, stores } = measured();
  expect(wrapped.ping).toBe(stores.ping);
});

test('an attempt that a limit refuses is counted by limit, never by key', async () => {
  const { wrapped, lines, empty } = measured();
  await wrapped.limits.spend('sign-in-name', 'alice', RATE);
  empty();
  await wrapped.limits.spend('sign-in-name', 'alice', RATE);
  const throttled = lines().filter((line) => line.includes('throttled'));
  expect(throttled).toEqual([
    'countersign_attempts_throttled_total{server="resource",limit="sign-in-name"} 1',
  ]);
  expect(lines().join('')).not.toContain('alice');
});

test('revocations are counted by kind', async () => {
  const { wrapped, lines } = measured();
  await wrapped.revocations.revoke('token', 't', 0);
  await wrapped.revocations.raise('person', 'p', 0);
  expect(lines().filter((line) => line.includes('revocations_total'))).toEqual([
    'countersign_revocations_total{server="resource",kind="token"} 1',
    'countersign_revocations_total{server="resource",kind="person"} 1',
  ]);
});

test('a change that the audit log records is measured, too', async () => {
  const { wrapped, lines } = measured();
  await wrapped.recorded('revocations', 'event').revoke('grant', 'g', 0);
  expect(lines()).toEqual(
    expect.arrayContaining([
      'countersign_revocations_total{server="resource",kind="grant"} 1',
      'countersign_store_duration_seconds_count{server="resource",operation="revocations.revoke"} 1',
    ]),
  );
});

test('PrivateTokens are counted when they are paid for, verified, redeemed and replayed', async () => {
  const { wrapped, lines, empty } = measured();
  await wrapped.limits.spend('private-token', 'a', RATE);
  await wrapped.limits.spend('private-token-verification', 'rs', RATE);
  for (const token of ['a', 'a', 'b']) await wrapped.spentTokens.spend(Buffer.from(token), 0);
  empty();
  await wrapped.limits.spend('private-token', 'a', RATE);
  const events = lines().filter((line) => line.includes('private_tokens_total'));
  expect(events.map((line) => line.replace(/.*event=/, ''))).toEqual([
    '"issued"} 1',
    '"verified"} 1',
    '"redeemed"} 2',
    '"replayed"} 1',
  ]);
});

test('values beside the verbs are kept, such as the longest content that the store can hold', () => {
  const { wrapped } = measured();
  expect(wrapped.trees.longestContent).toBe(7);
});
