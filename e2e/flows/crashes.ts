/** Kills servers during writes, and reads back all acknowledged writes. Throws AssertionError. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { issuerOf } from '../clients/private-token/issuer-of.ts';
import { encode } from '../clients/private-token/base64url.ts';
import { obtain, offersIn } from '../clients/private-token/private-token-client.ts';
import type { ServerProcess } from '../pair/pair.ts';
import { keptContent } from '../pair/kept-content.ts';
import { until } from '../parts/process.ts';
import { getAll } from './flow.ts';
import type { Client, Flow } from './flow.ts';

const DOCUMENTS = 4;
const CHAINS = 3;
/** A space for PrivateToken, and the number of unspent tokens for it at each kill. */
const TOKENS = '/schemes/private-token/';
const UNSPENT = 3;
const BLIND_RSA = 2;
/**
 * The length of the longest content in bytes (several chunks of a stream), and of short content that every
 * store keeps in rows.
 */
const LONGEST = 300_000;
const SHORT = 2_000;
/** Milliseconds within which a server is killed after the writes have begun. */
const LIFE = 150;
/** How many of the oldest tokens and clients are checked again after each kill. */
const SAMPLE = 6;

/** How a server is ended during writes, and how the next one is started. */
export interface Turn {
  end(victim: ServerProcess): Promise<void>;
  start(victim: ServerProcess): Promise<void>;
}

const KILLED: Turn = { end: (victim) => victim.kill(), start: (victim) => victim.start() };

/** Counts of all acknowledged writes, by kind. */
export interface Tally {
  kills: number;
  documents: number;
  revocations: number;
  tokens: number;
  clients: number;
  spends: number;
}

/** A stored document; undefined if there is none. The entity tag is missing if its answer never came. */
type State = { readonly body: string; readonly etag?: string } | undefined;

interface Document {
  readonly path: string;
  /** The states that a reader may find: one state, or two after a write without an answer. */
  states: readonly State[];
}

/** Begins with the hash of the rest, so that a reader can recognize a partial document. */
function newBody(): string {
  const longest = randomInt(2) === 0 ? LONGEST : SHORT;
  const payload = randomBytes(randomInt(longest / 2)).toString('hex');
  return `${hashOf(payload)}\n${payload}`;
}

const hashOf = (payload: string) => createHash('sha256').update(payload).digest('hex');

function assertWhole(body: string): void {
  const [hash, payload = ''] = body.split('\n');
  assert.equal(hashOf(payload), hash, 'a document is not whole');
}

/**
 * Repeats `kills` times: writes of all kinds at once, a server is ended meanwhile, and everything is read
 * back.
 */
export async function crash(
  flow: Flow,
  kills: number,
  progress: (tally: Tally) => void = () => {},
  turn = KILLED,
): Promise<Tally> {
  const { pair } = flow;
  const servers = [...pair.authz, ...pair.resources];
  const client = await pair.addClient();
  const writer = await pair.token(client);
  await until(async () => (await getAll(pair, writer)).every((status) => status === 200));
  const documents: Document[] = Array.from({ length: DOCUMENTS }, (_, n) => ({
    path: `/documents/crash-${n}`,
    states: [undefined],
  }));
  const revoked: string[] = [];
  const good: string[] = [writer];
  const clients: Client[] = [client];
  const tally: Tally = { kills: 0, documents: 0, revocations: 0, tokens: 0, clients: 0, spends: 0 };
  const tokenFor = await atTokenSpace(flow);
  const unspent: Buffer[] = [];
  const spent: Buffer[] = [];

  const authorization = `Bearer ${writer}`;
  const urlAt = (server: number, path: string) => `${pair.resources[server]?.url}${path}`;
  const anyServer = () => randomInt(pair.resources.length);

  async function read(path: string, server: number): Promise<State> {
    const response = await fetch(urlAt(server, path), { headers: { authorization } });
    const body = await response.text();
    if (response.status === 404) return undefined;
    assert.equal(response.status, 200, `${path}: ${body}`);
    assertWhole(body);
    return { body, etag: String(response.headers.get('etag')) };
  }

  /** Replaces or deletes one document repeatedly, each time on condition of its last known state. */
  async function write(document: Document): Promise<void> {
    const [current] = document.states;
    const remove = current !== undefined && randomInt(4) === 0;
    const body = remove ? undefined : newBody();
    const condition = current?.etag ? { 'if-match': current.etag } : { 'if-none-match': '*' };
    document.states = [current, body === undefined ? undefined : { body }];
    const response = await fetch(urlAt(anyServer(), document.path), {
      method: remove ? 'DELETE' : 'PUT',
      headers: { authorization, ...condition },
      ...(body !== undefined && { body }),
    });
    await response.arrayBuffer();
    assert.equal(response.ok, true, `${document.path}: ${response.status}`);
    const etag = String(response.headers.get('etag'));
    document.states = [body === undefined ? undefined : { body, etag }];
    tally.documents += 1;
  }

  async function useTokens(): Promise<void> {
    const token = await pair.token(client);
    if (randomInt(2) === 0) {
      good.push(token);
      tally.tokens += 1;
      return;
    }
    const { status } = await pair.post('/token/revocation', { token }, client);
    assert.equal(status, 200, String(pair.authz[0]?.troubles));
    revoked.push(token);
    tally.revocations += 1;
  }

  async function addClient(): Promise<void> {
    clients.push(await pair.addClient());
    tally.clients += 1;
  }

  async function redeem(token: Buffer, server: number): Promise<number> {
    const credentials = `PrivateToken token="${encode(token)}"`;
    const response = await fetch(urlAt(server, TOKENS), {
      headers: { authorization: credentials },
    });
    await response.arrayBuffer();
    return response.status;
  }

  const redeemAll = (token: Buffer) =>
    Promise.all(pair.resources.map((_, server) => redeem(token, server)));

  async function spend(): Promise<void> {
    const token = unspent.pop();
    if (token === undefined) return sleep(LIFE);
    assert.equal(await redeem(token, anyServer()), 200);
    spent.push(token);
    tally.spends += 1;
  }

  /** Repeats until an answer does not come, because the server is dead, or until `running` ends. */
  async function repeat(running: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    while (!running.aborted) {
      try {
        await work();
      } catch (error) {
        // fetch rejects with a TypeError when the connection is refused or breaks off; Jest has a TypeError of its own.
        if ((error as Error).name === 'TypeError') return;
        throw error;
      }
    }
  }

  async function readBack(): Promise<void> {
    for (const document of documents) {
      const found = await read(document.path, 0);
      for (const server of pair.resources.keys()) {
        assert.deepEqual(await read(document.path, server), found, 'two servers disagree');
      }
      const expected = document.states.find((state) => state?.body === found?.body);
      const allowed = expected !== undefined || document.states.includes(found);
      assert.ok(allowed, `${document.path} is in a state that nobody left it in`);
      if (expected?.etag !== undefined) assert.equal(found?.etag, expected.etag);
      document.states = [found];
    }
    await assertContent(flow);
    for (const token of sample(revoked)) {
      assert.deepEqual(await getAll(pair, token), [401, 401], 'a revocation was lost');
    }
    for (const token of sample(good)) {
      assert.deepEqual(await getAll(pair, token), [200, 200], 'a token was lost');
    }
    for (const token of sample(spent)) {
      assert.deepEqual(await redeemAll(token), [401, 401], 'a token was spent twice');
    }
    for (const one of sample(clients)) await pair.token(one);
  }

  for (let kill = 0; kill < kills; kill += 1) {
    const victim = servers[randomInt(servers.length)] as ServerProcess;
    while (unspent.length < UNSPENT) unspent.push(await tokenFor());
    const running = new AbortController();
    const load = [
      ...documents.map((document) => repeat(running.signal, () => write(document))),
      ...documents.map(({ path }) => repeat(running.signal, () => read(path, anyServer()))),
      ...Array.from({ length: CHAINS }, () => repeat(running.signal, useTokens)),
      repeat(running.signal, spend),
      ...(kill % 5 === 0 ? [addClient()] : []),
    ];
    const settled = Promise.allSettled(load);
    await sleep(randomInt(LIFE));
    await turn.end(victim);
    running.abort();
    for (const result of await settled) if (result.status === 'rejected') throw result.reason;
    await turn.start(victim);
    // A challenge makes each server fetch the issuer's keys. Later, for a token, the issuer may be dead.
    for (const { url } of pair.resources) await (await fetch(`${url}${TOKENS}`)).arrayBuffer();
    await readBack();
    tally.kills += 1;
    progress(tally);
  }
  for (const token of revoked) assert.deepEqual(await getAll(pair, token), [401, 401]);
  for (const token of spent) assert.deepEqual(await redeemAll(token), [401, 401]);
  for (const one of clients) await pair.token(one);
  return tally;
}

/** Gets tokens for the space, of the type that resource servers verify themselves. */
async function atTokenSpace({ pair }: Flow): Promise<() => Promise<Buffer>> {
  const issuer = await issuerOf(pair);
  const offers = await Promise.all(
    pair.resources.map(async ({ url }) => {
      const { hostname, port } = new URL(url);
      const answer = await overHttp({ host: hostname, port: Number(port) })(get(TOKENS));
      return offersIn(answer, new URL(pair.resource).host);
    }),
  );
  const offer = offers[0]?.find(({ challenge }) => challenge.type === BLIND_RSA);
  assert.ok(offer && offers.every(({ length }) => length > 0), 'there is no challenge');
  return () => obtain(offer, issuer, Date.now() / 1000, randomBytes);
}

/** The newest elements, which the last kill concerned, and some older elements. */
function sample<T>(all: readonly T[]): readonly T[] {
  const old = Array.from({ length: SAMPLE }, () => all[randomInt(Math.max(1, all.length))]);
  return [...all.slice(-SAMPLE), ...old.filter((one) => one !== undefined)];
}

const MANY = 100_000;

/** Checks that every row names content of its length, and that the store has no other content. */
async function assertContent({ stores, pair, config }: Flow): Promise<void> {
  const kept = new Map(await keptContent(config, '/documents'));
  const inFiles = async (file: string) =>
    (await stat(join(pair.data, 'content', folderOf('/documents'), file))).size;
  for (const entry of await stores.trees.below('/documents', '', MANY)) {
    if (entry.kind === 'collection') continue;
    const { path, file, length } = entry;
    const found = kept.get(file) ?? (await inFiles(file));
    assert.equal(found, length, `${path}: the content has another length than its row says`);
    kept.delete(file);
  }
  assert.deepEqual([...kept.keys()], [], 'content that no row names');
}
