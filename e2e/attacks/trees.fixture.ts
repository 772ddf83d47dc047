/** The target of an attacker of documents: two resource servers on one store, with a tree for each account at `/dav/`. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { NO_QUOTA } from '#shared/stores/contract/samples.ts';
import { bytesOf } from '#shared/stores/trees/entry-bytes.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import type { Entry, Lock } from '#shared/stores/trees/trees.ts';
import { openDisk } from '../../resource-server/resources/content/disk.ts';
import { startStore } from '../flows/flow.ts';
import type { StoreKind } from '../flows/flow.ts';
import { startPair } from '../pair/pair.ts';
import { keptContent } from '../pair/kept-content.ts';
import type { Pair } from '../pair/pair.ts';
import { UNLIMITED } from './attacked-pair.fixture.ts';

export const MAX_BYTES = 2_000_000;
/** The quota of each tree. */
export const QUOTA = { bytes: 4_000_000, entries: 6000 };

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | ReadableStream<Uint8Array>;
}

/** An account with its own tree. */
export interface Tenant {
  /** The name of the tree in the store. */
  readonly tree: string;
  /** The field with the account's credentials. */
  readonly credentials: readonly [name: string, value: string];
  /**
   * Sends a request to one of the two servers. The path is below `/dav/`, unless it begins with a slash.
   */
  ask(server: number, method: string, path: string, question?: Question): Promise<Reply>;
}

export interface TreeServers extends AsyncDisposable {
  readonly pair: Pair;
  readonly stores: Stores;
  /** Adds a new application. */
  newcomer(application?: string): Promise<Tenant>;
  person(name: string): Promise<Tenant>;
}

const ROOM = { apiKey: { limit: UNLIMITED } };

/** `settings`: further members of the configuration. */
export async function startTreeServers(
  kind: StoreKind,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<TreeServers> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const pair = parts.use(
    await startPair({
      ...store,
      resource: 2,
      settings: ({ resource }) => ({
        limits: { credentials: UNLIMITED, signIn: UNLIMITED },
        documents: { maxBytes: MAX_BYTES, quota: QUOTA },
        spaces: [
          { realm: 'dav', tree: 'own' },
          { realm: 'shared' },
          { realm: 'traced', tree: 'own', trace: {} },
        ].map((space) =>
          Object.assign(
            { url: `${resource}/${space.realm}/`, schemes: ['Basic', 'API-Key'], ...ROOM },
            space,
          ),
        ),
        ...settings,
      }),
    }),
  );
  const config = await loadConfig(pair.env);
  const common = { clock: systemClock, random: systemRandom, log: silentLog };
  const stores = parts.use(await openStores(config, common));
  const owned = parts.move();

  function tenant(whose: string, credentials: Tenant['credentials']): Tenant {
    const fields = Object.fromEntries([credentials]);
    return {
      tree: `/dav?${whose}`,
      credentials,
      async ask(server, method, path, { headers, body } = {}) {
        const place = path.startsWith('/') ? path : `/dav/${path}`;
        const response = await fetch(`${pair.resources[server % 2]?.url}${place}`, {
          method,
          headers: { ...fields, ...headers },
          redirect: 'manual',
          ...(body !== undefined && { body, duplex: 'half' }),
        });
        const { status, headers: answered } = response;
        return { status, headers: answered, text: await response.text() };
      },
    };
  }

  return {
    pair,
    stores,
    async newcomer(application = randomId(systemRandom)) {
      const { id, key, secret_hash } = newApiKey(systemRandom);
      const record = { id, application, realm: 'dav', scopes: [], secret_hash, created_at: 0 };
      await stores.apiKeys.add(record);
      return tenant(`application=${encodeURIComponent(application)}`, ['X-API-Key', key]);
    },
    async person(name) {
      const password = 'open sesame: 1=2';
      const { id } = await pair.addPerson(name, password);
      const basic = Buffer.from(`${name}:${password}`).toString('base64');
      return tenant(`person=${id}`, ['Authorization', `Basic ${basic}`]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Calls `work` ten times at once, alternately for the two servers. */
export function tenAtOnce<T>(work: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 10 }, (_, n) => work(n)));
}

/** How often each status came. */
export function tally(replies: readonly Reply[]): Readonly<Record<number, number>> {
  const counts = new Map<number, number>();
  for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** More entries than any tree of the tests has. */
const MANY = 100_000;

/** All entries of a tree except its root. */
export const entriesOf = ({ stores }: Pick<TreeServers, 'stores'>, tree: string) =>
  stores.trees.below(tree, '', MANY);

/** The whole content of a tree. */
export interface State {
  readonly entries: readonly Entry[];
  /** The locks with an end of 0: ends depend on clocks, which differ a little between processes. */
  readonly locks: readonly Lock[];
}

const endless = (lock: Lock): Lock => ({ ...lock, expires: 0 });

export async function stateOf(servers: Pick<TreeServers, 'stores'>, tree: string): Promise<State> {
  const { locks } = await servers.stores.trees.look(tree, []);
  return {
    entries: await entriesOf(servers, tree),
    locks: locks.map(endless).toSorted((a, b) => a.token.localeCompare(b.token)),
  };
}

/**
 * Checks a tree: each entry is in an existing collection, each row names content of its length, the usage
 * is the sum, no lock is left of a deleted resource, and neither store nor files have other content. Throws
 * AssertionError.
 */
export async function assertSound(servers: TreeServers, tree: string): Promise<void> {
  const { stores } = servers;
  const { entries, locks } = await stateOf(servers, tree);
  const kinds = new Map([
    ['', 'collection'],
    ...entries.map(({ path, kind }) => [path, kind] as const),
  ]);
  const lengths = new Map<string, number>();
  let bytes = 0;
  for (const entry of entries) {
    const parent = entry.path.slice(0, Math.max(entry.path.lastIndexOf('/'), 0));
    assert.equal(kinds.get(parent), 'collection', `${entry.path} is in nothing`);
    bytes += bytesOf(entry);
    if (entry.kind === 'document') lengths.set(entry.file, entry.length);
  }
  const { usage } = await stores.trees.look(tree, []);
  assert.deepEqual(usage, { bytes, entries: entries.length }, 'the usage is not what is there');
  for (const { root } of locks) assert.ok(kinds.has(root), `${root} is locked, and not there`);

  const found = await contentOf(servers, tree);
  assert.deepEqual(
    [...found.keys()].toSorted(),
    [...lengths.keys()].toSorted(),
    'content that no row names',
  );
  assert.deepEqual(found, lengths, 'content has another length than its row says');
}

/** Lengths of all contents of a tree, by name. */
async function contentOf({ pair }: TreeServers, tree: string) {
  const folder = join(pair.data, 'content', folderOf(tree));
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const kept = await keptContent(await loadConfig(pair.env), tree);
  const inFiles = files.map(async (file) => [file, (await stat(join(folder, file))).size] as const);
  const both = [...kept, ...(await Promise.all(inFiles))];
  const found = new Map(both);
  assert.equal(found.size, both.length, 'content that is kept and a file');
  return found;
}

const LATER = { ...systemClock, now: () => systemClock.now() + 7 * 86_400_000 };

/** Removes the files that a crash left behind, as the servers do a day later. */
export function sweep({ pair, stores }: TreeServers): Promise<number> {
  const folder = join(pair.data, 'content');
  const disk = openDisk({
    folder,
    trees: stores.trees,
    limits: stores.limits,
    maxBytes: MAX_BYTES,
    memory: 4 * MAX_BYTES,
    quota: NO_QUOTA,
    clock: LATER,
    random: systemRandom,
    log: silentLog,
  });
  return disk.sweep(86_400);
}

/** Checks that no process died and no logged error is a defect. Throws AssertionError. */
export async function assertAlive({ pair }: TreeServers): Promise<void> {
  for (const { url, log } of pair.resources) {
    assert.equal((await fetch(`${url}/health/ready`)).status, 200);
    assert.deepEqual(
      log.split('\n').filter((line) => line.includes('"level":"error"')),
      [],
    );
  }
}
