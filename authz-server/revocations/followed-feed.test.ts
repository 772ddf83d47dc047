/** @slow */
/** The feed of a server that does not share the store passes the same tests as the feeds of servers that do. */
import { afterAll, beforeAll, describe } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { leasedFeed } from '#shared/guard/leased-feed.ts';
import { parsePage } from '#shared/guard/revocation-page.ts';
import { acknowledged } from '#shared/stores/revocation/acknowledged.ts';
import { revocationsContract } from '#shared/stores/contract/revocation/revocations.ts';
import type { Contract } from '#shared/stores/contract/store-under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startEndpoint } from './revocations.fixture.ts';

/** Seconds; the value must be more than one so that the contract passes. */
const LEASE = 1.1;

describe('a leased feed', () => {
  let contract: Contract;
  const parts = new AsyncDisposableStack();

  beforeAll(async () => {
    const store = await sqliteUnderTest();
    parts.defer(() => store.end());
    const monotonic = () => performance.now();
    const clock = { now: () => store.clock.now(), monotonic };

    /** Opens the stores as another process has them: it has an endpoint of its own, which its feeds ask. */
    async function open(): Promise<Stores> {
      const stores = await store.open();
      const endpoint = await startEndpoint(stores, clock, { lease: LEASE, hold: 0.1 });
      const { followers } = stores;
      const waiting = acknowledged(stores.revocations, {
        followers,
        lease: LEASE * 1000,
        monotonic,
      });
      const feed = async () =>
        leasedFeed({
          async ask(after, wait, signal) {
            const query = new URLSearchParams({ ...(after && { after }), wait: String(wait) });
            const { status, text } = await endpoint.ask({ query: `?${query.toString()}`, signal });
            if (status !== 200) throw new Error(`${status} ${text}`);
            return parsePage(text);
          },
          clock,
          log: silentLog,
        });
      return {
        ...stores,
        revocations: { ...waiting, feed },
        async [Symbol.asyncDispose]() {
          await endpoint[Symbol.asyncDispose]();
          await stores[Symbol.asyncDispose]();
        },
      };
    }
    contract = { store: { ...store, open }, one: await open(), other: await open() };
    parts.use(contract.one);
    parts.use(contract.other);
  });
  afterAll(() => parts.disposeAsync());

  revocationsContract(() => contract);
});
