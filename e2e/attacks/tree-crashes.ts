/**
 * Kills a server during changes of a tree: each change is then done completely or not at all. Throws
 * AssertionError.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { NO_QUOTA } from '#shared/stores/contract/samples.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import type { Edit, Entry } from '#shared/stores/trees/trees.ts';
import type { ServerProcess } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { assertSound, stateOf, sweep } from './trees.fixture.ts';
import type { Question, Reply, State, Tenant, TreeServers } from './trees.fixture.ts';

/** Resources in the collections that the tests move, copy or delete. */
const MANY = 2000;
const SOME = 100;
/** Milliseconds within which the server is killed after it has begun to receive content. */
const LIFE = 100;
const PIECES = 16;
const PAUSE = 10;

/** Counts of the outcomes of all changes. */
export interface Crashes {
  kills: number;
  acknowledged: number;
  /** Changes that are done although their answer never came. */
  silent: number;
  undone: number;
  /** Files that the killed server left behind. */
  swept: number;
}

/** A change, of which only the resources it is about show whether it is done. */
interface Change {
  readonly method: string;
  readonly path: string;
  readonly question?: Question;
  /** The first segments of its paths. */
  readonly about: readonly string[];
  /** Whether the new state is the state after the change, given that it differs from the state before. */
  readonly isDone: (now: State, before: State) => boolean;
}

const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const PROPERTYUPDATE = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>
  <a xmlns="urn:x">1</a><b xmlns="urn:x">2</b>
</D:prop></D:set></D:propertyupdate>`;
const XML = { 'Content-Type': 'application/xml' };

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** A random body that begins with its own hash. */
function newBody(bytes: number): string {
  const rest = randomBytes(bytes / 2).toString('hex');
  return `${hashOf(rest)}\n${rest}`;
}

/** Sends the body in pieces and never ends. */
function endlessly(body: string): ReadableStream<Uint8Array> {
  const length = Math.ceil(body.length / PIECES);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await (at < body.length - length ? sleep(PAUSE) : new Promise(() => {}));
      controller.enqueue(Buffer.from(body.slice(at, at + length)));
      at += length;
    },
  });
}

/** Returns the entries at and below `from`, moved to `to`, without times and collection ids. */
const timeless = (entries: readonly Entry[], from: string, to = from) =>
  entries
    .filter(({ path }) => firstOf(path) === from)
    .map((entry) =>
      Object.assign({}, entry, {
        path: to + entry.path.slice(from.length),
        created: 0,
        modified: 0,
        id: undefined,
      }),
    );

const firstOf = (path: string) => path.split('/', 1)[0] ?? '';

/** Returns the part of a state below these names. */
function about({ entries, locks }: State, names: readonly string[]): State {
  return {
    entries: entries.filter(({ path }) => names.includes(firstOf(path))),
    locks: locks.filter(({ root }) => names.includes(firstOf(root))),
  };
}

/** Checks that the same document has another content. */
function isReplaced(length: number): Change['isDone'] {
  return ({ entries: [now] }, { entries: [before] }) =>
    now?.kind === 'document' &&
    before?.kind === 'document' &&
    now.etag !== before.etag &&
    now.length === length &&
    now.created === before.created &&
    isDeepStrictEqual(now.properties, before.properties);
}

function isNew(length: number): Change['isDone'] {
  return ({ entries: [now] }) => now?.kind === 'document' && now.length === length;
}

function changes(freed: string): readonly Change[] {
  const [long, short] = [newBody(100_000), newBody(10_000)];
  const destination = (path: string) => ({ headers: { Destination: `/dav/${path}` } });
  return [
    {
      method: 'MOVE',
      path: 'many/',
      question: destination('taken/'),
      about: ['many', 'taken'],
      isDone: (now, before) =>
        isDeepStrictEqual(
          timeless(now.entries, 'taken'),
          timeless(before.entries, 'many', 'taken'),
        ) && about(now, ['many']).entries.length === 0,
    },
    {
      method: 'COPY',
      path: 'copied/',
      question: destination('copy/'),
      about: ['copied', 'copy'],
      isDone: (now, before) =>
        isDeepStrictEqual(
          timeless(now.entries, 'copy'),
          timeless(before.entries, 'copied', 'copy'),
        ) && isDeepStrictEqual(about(now, ['copied']), before),
    },
    {
      method: 'DELETE',
      path: 'doomed/',
      about: ['doomed'],
      isDone: ({ entries }) => entries.length === 0,
    },
    {
      method: 'PROPPATCH',
      path: 'named',
      question: { headers: XML, body: PROPERTYUPDATE },
      about: ['named'],
      isDone: ({ entries: [now] }, { entries: [before] }) =>
        Object.keys(now?.properties ?? {}).length === 2 &&
        isDeepStrictEqual({ ...now, properties: {}, revision: before?.revision }, before),
    },
    {
      method: 'PUT',
      path: 'endless',
      question: { body: endlessly(newBody(800_000)) },
      about: ['endless'],
      isDone: () => false,
    },
    {
      method: 'PUT',
      path: 'replaced',
      question: { body: long },
      about: ['replaced'],
      isDone: isReplaced(long.length),
    },
    {
      method: 'PUT',
      path: 'new',
      question: { body: long },
      about: ['new'],
      isDone: isNew(long.length),
    },
    {
      method: 'PUT',
      path: 'rewritten',
      question: { body: short },
      about: ['rewritten'],
      isDone: isReplaced(short.length),
    },
    {
      method: 'PUT',
      path: 'short',
      question: { body: short },
      about: ['short'],
      isDone: isNew(short.length),
    },
    {
      method: 'LOCK',
      path: 'leased',
      question: { headers: XML, body: LOCKINFO },
      about: ['leased'],
      isDone: ({ entries, locks }) => entries.length === 1 && locks.length === 1,
    },
    {
      method: 'UNLOCK',
      path: 'freed',
      question: { headers: { 'Lock-Token': freed } },
      about: ['freed'],
      isDone: ({ entries, locks }, before) =>
        locks.length === 0 && isDeepStrictEqual(entries, before.entries),
    },
  ];
}

/** Fills a tree whose documents all have the same content. Resolves to the token of the lock on `freed`. */
async function furnish({ stores }: TreeServers, me: Tenant): Promise<string> {
  const { status } = await me.ask(0, 'PUT', 'first', { body: newBody(1000) });
  assert.equal(status, 201);
  const original = await stores.trees.get(me.tree, 'first');
  assert.ok(original?.kind === 'document');
  const { created, modified, properties } = original;
  const collection = (path: string): Entry => ({
    path,
    kind: 'collection',
    revision: randomId(systemRandom),
    created,
    modified,
    properties,
  });
  const document = (path: string): Entry => ({
    ...original,
    path,
    revision: randomId(systemRandom),
  });
  const filled = (name: string, count: number) => [
    collection(name),
    collection(`${name}/deep`),
    ...Array.from({ length: count }, (_, n) => document(`${name}/deep/${n}`)),
  ];
  const edits = [
    ...filled('many', MANY),
    ...filled('taken', SOME),
    ...filled('copied', SOME),
    ...filled('doomed', SOME),
    ...['named', 'endless', 'replaced', 'rewritten'].map(document),
  ].map((entry): Edit => ({ kind: 'put', entry }));
  const change = { seen: new Map(), locksVersion: '0', edits, quota: NO_QUOTA };
  assert.equal((await stores.trees.commit(me.tree, change)).kind, 'done');

  const tokens: string[] = [];
  for (const name of ['held', 'freed']) {
    const granted = await me.ask(1, 'LOCK', name, { headers: XML, body: LOCKINFO });
    assert.equal(granted.status, 201);
    tokens.push(granted.headers.get('Lock-Token') ?? '');
  }
  return tokens[1] ?? '';
}

/** Resolves to undefined if the connection breaks off. */
async function answerTo(asking: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await asking;
  } catch (error) {
    // fetch rejects with a TypeError; Jest has a TypeError of its own.
    if ((error as Error).name === 'TypeError') return undefined;
    throw error;
  }
}

async function isReceiving({ pair }: TreeServers, { tree }: Tenant): Promise<boolean> {
  const folder = join(pair.data, 'content', folderOf(tree));
  const files: readonly string[] = await readdir(folder).catch(() => []);
  return files.some((name) => name.endsWith('.part'));
}

/** Repeats `kills` times: sends changes of all kinds at once to one server, and kills it meanwhile. */
export async function crashTrees(
  servers: TreeServers,
  kills: number,
  progress: (crashes: Crashes) => void = () => {},
): Promise<Crashes> {
  const crashes: Crashes = { kills: 0, acknowledged: 0, silent: 0, undone: 0, swept: 0 };

  function judge(change: Change, reply: Reply | undefined, now: State, before: State): void {
    const { method, path, isDone } = change;
    const [then, after] = [about(before, change.about), about(now, change.about)];
    const undone = isDeepStrictEqual(after, then);
    assert.ok(undone || isDone(after, then), `${method} ${path} is done by half`);
    if (reply !== undefined) {
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
      assert.equal(undone, false, `${method} ${path} was acknowledged, and is lost`);
    }
    crashes[undone ? 'undone' : reply ? 'acknowledged' : 'silent'] += 1;
  }

  for (let kill = 0; kill < kills; kill += 1) {
    const me = await servers.newcomer();
    const all = changes(await furnish(servers, me));
    const before = await stateOf(servers, me.tree);
    const server = randomInt(servers.pair.resources.length);
    const victim = servers.pair.resources[server] as ServerProcess;

    const asking = Promise.all(
      all.map(({ method, path, question }) => answerTo(me.ask(server, method, path, question))),
    );
    await until(() => isReceiving(servers, me));
    await sleep(randomInt(LIFE));
    await victim.kill();
    const replies = await asking;

    const now = await stateOf(servers, me.tree);
    for (const [n, change] of all.entries()) judge(change, replies[n], now, before);
    assert.deepEqual(about(now, ['held', 'first']), about(before, ['held', 'first']));
    crashes.swept += await sweep(servers);
    await assertSound(servers, me.tree);

    // For a moment another process's connection may use the server's port.
    await until(async () => {
      await victim.start();
      return true;
    });
    for (const path of ['replaced', 'rewritten', 'endless']) {
      const [one, other] = [await me.ask(0, 'GET', path), await me.ask(1, 'GET', path)];
      const [hash, rest = ''] = one.text.split('\n');
      assert.equal(hashOf(rest), hash, `${path} is not whole`);
      assert.ok(other.text === one.text, `two servers disagree about ${path}`);
    }
    assert.equal((await me.ask(server, 'PUT', 'held', { body: '' })).status, 423);
    crashes.kills += 1;
    progress(crashes);
  }
  return crashes;
}
