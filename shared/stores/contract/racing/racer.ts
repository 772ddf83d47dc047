/** The second process of the races. It opens the store by its spec, and makes the attempts that the test sends. */
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '../../open.ts';
import { RACES, type RaceName } from './races.ts';
import type { StoreSpec } from '../store-under-test.ts';

export type What = { readonly race: RaceName; readonly key: string } | { readonly raise: string };

export type Order = What & {
  readonly attempts: number;
  /** Milliseconds since the epoch at which both processes begin. */
  readonly at: number;
};

const spec = JSON.parse(process.argv[2] ?? '') as StoreSpec;
const dependencies = {
  clock: new ManualClock(spec.now),
  random: systemRandom,
  log: silentLog,
  // This also works if the store has a clock of its own.
  serverTime: async () => spec.now,
};
const stores = await openStores(spec, dependencies);

const carryOut = (order: Order): Promise<unknown[]> => {
  const attempt: () => Promise<unknown> =
    'race' in order
      ? () => RACES[order.race].attempt(stores, order.key)
      : () => stores.revocations.raise('person', order.raise, spec.now + 60_000);
  while (Date.now() < order.at);
  return Promise.all(Array.from({ length: order.attempts }, attempt));
};

process.on('message', (order: Order) => {
  void carryOut(order).then(
    (results) => process.send?.({ results }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => void stores[Symbol.asyncDispose]());
process.send?.('ready');
