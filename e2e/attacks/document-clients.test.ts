/** Unregistered clients (Client ID Metadata Documents) at two processes on one store. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRecorder } from '#shared/audit/recorder.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  createDocumentClients,
  type DocumentClients,
  FetchLater,
} from '#shared/client-documents/document-clients.ts';
import {
  type DocumentServer,
  documentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { documentDestinations } from '#shared/client-documents/reach.ts';
import { removeUnused } from '#shared/client-documents/unused.ts';
import { type Config, configSchema } from '#shared/config/schema.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { STORE_KINDS, startStore } from '../flows/flow.ts';
import { until } from '../parts/process.ts';

const DAY = 86_400;

let site: DocumentServer;
beforeAll(async () => {
  site = await documentServer();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** One of the two processes. */
interface Process {
  readonly stores: Stores;
  readonly documents: DocumentClients;
  removeUnused(): Promise<void>;
}

describe.each(STORE_KINDS)('%s', (kind) => {
  let parts: AsyncDisposableStack;
  let config: Config;
  let clock: ManualClock;
  let one: Process;
  let other: Process;
  let url: string;
  let lookups: string[];
  let made = 0;

  beforeEach(async () => {
    parts = new AsyncDisposableStack();
    const { store } = await startStore(kind, parts);
    config = configSchema.parse({ data: await storeFolder(), ...(store && { store }) });
    clock = new ManualClock(Date.now());
    lookups = [];
    [one, other] = [await open(), await open()];
    site.asked.length = 0;
    url = `${site.origin}/${kind}-${(made += 1)}`;
    site.documents.set(new URL(url).pathname, webDocument(url));
  });
  afterEach(async () => parts.disposeAsync());

  async function open(): Promise<Process> {
    const around = { clock, random: systemRandom, log: silentLog, config };
    const stores = parts.use(await openStores(config, { ...around }));
    const recorder = createRecorder({ ...around, stores }, { who: 'server', how: 'chore' });
    const network = {
      destinations: documentDestinations(config),
      resolve: (name: string) => {
        lookups.push(name);
        return Promise.resolve(['127.0.0.1', '::1']);
      },
    };
    return {
      stores,
      documents: createDocumentClients({ ...around, stores, recorder }, network),
      removeUnused: () => removeUnused({ ...around, stores, recorder }),
    };
  }

  test('if both processes are asked for one unknown document at once, they keep one client, known to both', async () => {
    const asked = [one, other, one, other].map(({ documents }) => documents.current(url, 'a'));
    const found = await Promise.all(asked);
    expect(new Set(found.map((client) => client?.client_name))).toEqual(new Set(['Notes']));
    expect(site.asked.length).toBeLessThanOrEqual(2);
    await Promise.all([one, other].map(({ documents }) => documents.keep(found[0]!, 'alice')));
    const kept = await other.stores.clients.page({ prefix: url, limit: 10 });
    expect(kept).toHaveLength(1);
    site.documents.clear();
    expect(await other.documents.current(url, 'a')).toMatchObject({ client_id: url });
  });

  test('if a document changes, both processes have the new version, and consent is asked again', async () => {
    const first = await one.documents.current(url, 'a');
    await one.documents.keep(first!, 'alice');
    site.documents.set(new URL(url).pathname, webDocument(url, { client_name: 'Other' }));
    clock.advance(DAY + 1);
    const now = await Promise.all([one, other].map((each) => each.documents.current(url, 'a')));
    expect(now.map((client) => client?.client_name)).toEqual(['Other', 'Other']);
    const stored = await one.documents.get(url);
    expect(stored).toMatchObject({ client_name: 'Other' });
    expect(stored?.document?.changed).toBeGreaterThan(first?.document?.changed ?? Infinity);
  });

  describe('stored clients without use', () => {
    const AFTER = () => config.people.grant + 2 * DAY + 1;

    test('are removed once every grant has expired, with an event in the audit log', async () => {
      await one.documents.keep((await one.documents.current(url, 'a'))!, 'alice');
      clock.advance(AFTER() - 2);
      await other.removeUnused();
      expect(await one.stores.clients.get(url)).toBeDefined();
      clock.advance(2);
      await Promise.all([one.removeUnused(), other.removeUnused()]);
      expect(await one.stores.clients.get(url)).toBeUndefined();
      const log = JSON.stringify(await one.stores.audit.open());
      expect(log.split('client.removed')).toHaveLength(2);
    });

    test('stay while they are used, registered by an operator, or not from a document', async () => {
      await one.documents.keep((await one.documents.current(url, 'a'))!, 'alice');
      const document = { fetched: 1, until: 2, changed: 1, registered: true } as const;
      await one.stores.clients.add({ ...someClient('https://app.example/registered'), document });
      await one.stores.clients.add(someClient('https://app.example/by-hand'));
      clock.advance(AFTER());
      await other.documents.current(url, 'a');
      await one.removeUnused();
      const left = await one.stores.clients.page({ prefix: 'https://', limit: 10 });
      expect(left.map(({ client_id: id }) => id).toSorted()).toEqual(
        ['https://app.example/by-hand', 'https://app.example/registered', url].toSorted(),
      );
    });

    test('are all removed, even from several pages of the list', async () => {
      const document = { fetched: 1, until: 2, changed: 1 };
      for (let n = 0; n < 205; n += 1) {
        await one.stores.clients.add({ ...someClient(`https://app.example/${n}`), document });
      }
      await one.removeUnused();
      expect(await one.stores.clients.page({ prefix: 'https://', limit: 1 })).toEqual([]);
    });
  });

  describe('a flood of unknown documents', () => {
    const outcome = (fetching: Promise<unknown>) =>
      fetching.then(
        () => 'found',
        (error: unknown) => (error instanceof FetchLater ? 'later' : 'bad'),
      );

    test.each([
      ['of many hosts of one domain', (n: number) => `https://h${n}.evil.example:1/c`],
      ['of many domains', (n: number) => `https://evil-${n}.example:1/c`],
    ])(
      '%s, each from another address, meets a common limit before any DNS lookup',
      async (_, address) => {
        let fetched = 0;
        for (let came = 'bad'; came === 'bad' && fetched < 2000;) {
          const { documents } = fetched % 2 === 0 ? one : other;
          came = await outcome(documents.current(address(fetched), `address-${fetched}`));
          if (came === 'bad') fetched += 1;
          else expect(came).toBe('later');
        }
        expect(fetched).toBeGreaterThanOrEqual(120);
        expect(fetched).toBeLessThan(2000);
        expect(lookups).toHaveLength(fetched);
        expect(await one.stores.clients.page({ prefix: 'https://', limit: 1 })).toEqual([]);
      },
    );

    test('while three addresses have used up their limit for one host, another address still gets a document of the host', async () => {
      /** Counts the documents of the host until the address has to wait. */
      async function countOf(address: string): Promise<number> {
        for (let n = 0; n < 1000; n += 1) {
          const { documents } = n % 2 === 0 ? one : other;
          const missing = `${site.origin}/missing-${kind}-${address}-${n}`;
          if ((await outcome(documents.current(missing, address))) === 'later') return n;
        }
        throw new Error('nothing bounds it');
      }
      for (const address of ['a', 'b', 'c']) {
        expect(await countOf(address)).toBeGreaterThanOrEqual(8);
      }
      expect(await outcome(one.documents.current(url, 'another'))).toBe('found');
    });

    test("a known client's document is fetched while unknown clients hold all places that they may", async () => {
      await one.documents.keep((await one.documents.current(url, 'a'))!, 'alice');
      clock.advance(DAY + 1);
      let held = 0;
      const release = Promise.withResolvers<undefined>();
      const hanging = Array.from({ length: 30 }, (_, n) => {
        const path = `/hanging-${kind}-${n}`;
        site.documents.set(path, (_request, response) => {
          held += 1;
          void release.promise.then(() => response.writeHead(404).end());
        });
        return outcome(one.documents.current(site.origin + path, `address-${n}`));
      });
      await until(() => held === 24);
      expect(await one.documents.current(url, 'a')).toMatchObject({ client_id: url });
      release.resolve(undefined);
      const outcomes = await Promise.all(hanging);
      expect(outcomes.filter((came) => came === 'later')).toHaveLength(6);
    });
  });
});
