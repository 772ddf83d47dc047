import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { digestOf, parsePage, type RevocationPage } from '#shared/guard/revocation-page.ts';
import { trustedFor } from '#shared/stores/revocation/lease.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { readCursor } from './cursor.ts';
import { Followed } from './followed.ts';
import { MOST_FOLLOWERS } from './register.ts';
import { type Endpoint, ISSUER, startEndpoint, URL_OF_ENDPOINT } from './revocations.fixture.ts';

const FAR = 2_000_000_000_000;
/** Seconds. */
const TIMES = { lease: 60, hold: 15 };
/** The number of seconds after which, by the server's assumption, no follower trusts an answer. */
const OVER = trustedFor(TIMES.lease);

let clock: ManualClock;
let stores: Stores;
let endpoint: Endpoint;
let logged: string[];
beforeEach(async () => {
  clock = new ManualClock(systemClock.now());
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  logged = [];
  const warn = (event: string, { client }: LogFields = {}) => logged.push(`${event} ${client}`);
  endpoint = await startEndpoint(stores, clock, TIMES, { ...silentLog, warn, error: warn });
});
afterEach(async () => {
  await endpoint[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
});

async function page(query: string, authorization?: string): Promise<RevocationPage> {
  const { status, text } = await endpoint.ask({ query, ...(authorization && { authorization }) });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return parsePage(text);
}

/** Returns the rows of the processes that have followers. */
const rows = async () => (await stores.followers.look()).processes;
const revoke = (id: string) => stores.revocations.revoke('token', id, FAR);

/**
 * Returns the part that answers followers, without HTTP. It accepts any wait, whereas a request waits for 15 s at most.
 */
async function withoutHttp() {
  const feed = await stores.revocations.feed();
  const config = configSchema.parse({ issuer: ISSUER, revocations: TIMES });
  const parts = { config, stores, feed, clock, random: systemRandom, log: silentLog };
  return { feed, followed: new Followed(parts) };
}

test('if one revocation wakes hundreds of followers, they are answered in slices', async () => {
  const { feed, followed } = await withoutHttp();
  const { signal: gone } = new AbortController();
  const asking = Array.from({ length: 700 }, (_, n) => ({ client: `client ${n % 28}`, gone }));
  const begun = await Promise.all(
    asking.map((one) => followed.tell({ ...one, after: undefined, wait: 0 })),
  );
  const byTurn = [0];
  let waiting = asking.length;
  const tick = () => {
    byTurn.push(0);
    if (waiting > 0) setImmediate(tick);
  };
  const told = asking.map(async (one, n) => {
    const after = readCursor(begun[n]?.cursor ?? '');
    const { entries } = await followed.tell({ ...one, after, wait: 15_000 });
    waiting -= 1;
    byTurn[byTurn.length - 1] = (byTurn.at(-1) ?? 0) + 1;
    return entries.length;
  });
  await eventually(() => expect(feed.status().trusted).toBe(true));
  tick();
  await revoke('one');
  expect(new Set(await Promise.all(told))).toEqual(new Set([1]));
  expect(Math.max(...byTurn)).toBeLessThanOrEqual(asking.length / 10);
  await feed[Symbol.asyncDispose]();
});

describe('answers to a follower', () => {
  test('a new follower gets every revocation in pages of 4,000, and a lease with the last page', async () => {
    await Promise.all(Array.from({ length: 4_500 }, (_, n) => revoke(`token ${n}`)));
    await stores.revocations.raise('person', 'a person', FAR);
    const first = await page('');
    expect(first.entries).toHaveLength(4_000);
    expect(first.lease).toBe(0);
    const second = await page(`?after=${first.cursor}&wait=9`);
    expect(second).toMatchObject({ lease: TIMES.lease, epoch: first.epoch });
    const all = [...first.entries, ...second.entries];
    expect(all).toHaveLength(4_501);
    expect(all.map(({ id }) => id)).toContain(digestOf('token 1234'));
    expect(all.at(-1)).toEqual({
      kind: 'person',
      id: digestOf('a person'),
      generation: 1,
      until: FAR,
    });
  });

  test('an answer names no person or grant', async () => {
    await stores.revocations.raise('person', 'alice-with-her-id', FAR);
    await stores.revocations.revoke('grant', 'a-grant-of-hers', FAR);
    const { text, headers } = await endpoint.ask();
    expect(text).not.toMatch(/alice|hers/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-type']).toBe('application/json');
  });

  test('a waiting follower gets a new revocation at once, or an empty answer after the wait', async () => {
    const { cursor } = await page('');
    const waiting = Promise.all([
      page(`?after=${cursor}&wait=15`),
      page(`?after=${cursor}&wait=15`),
    ]);
    await eventually(async () => expect(await rows()).toHaveLength(1));
    await revoke('new');
    for (const { entries } of await waiting)
      expect(entries.map(({ id }) => id)).toEqual([digestOf('new')]);
    const nothing = await page(`?after=${cursor.replace(/^\d+/, '1')}&wait=0.01`);
    expect(nothing).toMatchObject({ entries: [], lease: TIMES.lease });
  });

  test('a follower gets an empty answer at once if another process told it more, so that that process hears of it', async () => {
    await using other = await startEndpoint(stores, clock, TIMES);
    const { feed, followed } = await withoutHttp();
    const { signal: gone } = new AbortController();
    const follower = { client: 'follower', wait: 600_000, gone };
    const { cursor } = await followed.tell({ ...follower, after: undefined });
    await revoke('new');
    const { text } = await other.ask({ query: `?after=${cursor}` });
    expect(parsePage(text).entries).toHaveLength(1);
    const after = readCursor(parsePage(text).cursor);
    const nothing = await followed.tell({ ...follower, after });
    expect(nothing).toMatchObject({ entries: [], lease: TIMES.lease });
    await feed[Symbol.asyncDispose]();
  });

  test('with an unknown position a follower gets every revocation; a position ahead of the store is logged', async () => {
    await revoke('old');
    const { cursor, epoch } = await page('');
    const ahead = cursor.replace(/^\d+/, '999');
    const elsewhere = cursor.replace(epoch, 'x'.repeat(22));
    for (const after of [ahead, elsewhere]) {
      const { entries } = await page(`?after=${after}&wait=15`);
      expect(entries.map(({ id }) => id)).toEqual([digestOf('old')]);
    }
    expect(logged).toEqual(['follower.ahead follower']);
  });

  test("attack: one client cannot fill the log with wrong cursors, or hide another client's log line by them", async () => {
    const { cursor } = await page('');
    const ahead = `?after=${cursor.replace(/^\d+/, '999')}`;
    for (let n = 0; n < 5; n += 1) await page(ahead);
    await page(ahead, `Bearer ${await endpoint.token({ sub: 'other', client_id: 'other' })}`);
    expect(logged).toEqual(['follower.ahead follower', 'follower.ahead other']);
    logged.length = 0;
    clock.advance(61);
    await page(ahead);
    expect(logged).toContain('follower.ahead follower');
  });

  test('followers get 503 while the store has no epoch', async () => {
    const folder = await temporaryFolder();
    await using empty = await openSqlite({ folder, clock, random: systemRandom });
    await using other = await startEndpoint(empty, clock, TIMES);
    const { status } = await other.ask({ authorization: `Bearer ${await endpoint.token()}` });
    expect(status).toBe(503);
  });
});

describe('the row of a process that has followers', () => {
  test("the row exists before the first answer, and gets the follower's entry once the follower acknowledges it", async () => {
    await revoke('a');
    const { cursor } = await page('');
    const [before] = await rows();
    expect(before).toMatchObject({ lease: TIMES.lease * 1000 });
    await revoke('b');
    const { last } = await stores.followers.look();
    const second = await page(`?after=${cursor}`);
    expect((await rows())[0]?.confirmed).not.toBe(last);
    await page(`?after=${second.cursor}`);
    await eventually(async () => expect((await rows())[0]?.confirmed).toBe(last));
  });

  test('a silent follower holds back the confirmed entry until its lease is over', async () => {
    const silent = await page('');
    const other = await page('');
    expect(other.cursor).not.toBe(silent.cursor);
    await revoke('a');
    const { last } = await stores.followers.look();
    const { cursor } = await page(`?after=${other.cursor}`);
    await page(`?after=${cursor}`);
    expect((await rows())[0]?.confirmed).not.toBe(last);
    clock.advance(OVER);
    await page(`?after=${cursor}`);
    await eventually(async () => expect((await rows())[0]?.confirmed).toBe(last));
    await eventually(() => expect(logged).toEqual(['follower.silent follower']));
  });

  test('attack: a forged cursor acknowledges no entry that does not exist, and none for another follower', async () => {
    const mine = await page('');
    await page('');
    await revoke('a');
    const { last } = await stores.followers.look();
    await page(`?after=${mine.cursor.replace(/^\d+/, '999999')}`);
    await page(`?after=${mine.cursor.replace(/^\d+/, String(last))}`);
    await sleep(20);
    expect((await rows())[0]?.confirmed).not.toBe(last);
  });

  test('attack: another client that knows the cursor of a follower cannot acknowledge for it', async () => {
    const { cursor } = await page('');
    await revoke('a');
    const { last } = await stores.followers.look();
    const thief = `Bearer ${await endpoint.token({ sub: 'thief', client_id: 'thief' })}`;
    await page(`?after=${cursor.replace(/^\d+/, String(last))}`, thief);
    await sleep(20);
    expect((await rows())[0]?.confirmed).not.toBe(last);
  });

  test('the row is removed after the last follower', async () => {
    await page('');
    expect(await rows()).toHaveLength(1);
    clock.advance(OVER);
    await eventually(async () => expect(await rows()).toEqual([]));
  });

  test('a follower that asks again gets a row again', async () => {
    const { cursor } = await page('');
    clock.advance(OVER);
    await eventually(async () => expect(await rows()).toEqual([]));
    await page(`?after=${cursor}`);
    expect(await rows()).toHaveLength(1);
  });

  test('a follower that disconnects while it waits does not delay the removal of the row', async () => {
    const { cursor } = await page('');
    clock.advance(OVER - 1);
    const leaving = new AbortController();
    const waiting = endpoint.ask({ query: `?after=${cursor}&wait=15`, signal: leaving.signal });
    const beat = (await rows())[0]?.beat ?? 0;
    await eventually(async () => expect((await rows())[0]?.beat).toBeGreaterThan(beat));
    leaving.abort();
    await expect(waiting).rejects.toThrow('abort');
    clock.advance(1);
    await eventually(async () => expect(await rows()).toEqual([]));
  });
});

describe('the right to follow', () => {
  test.each([
    ['without a token', { authorization: '' }, 401],
    ['with Basic', { authorization: `Basic ${btoa('follower:secret')}` }, 401],
    ['with an invalid token', { authorization: 'Bearer x.y.z' }, 401],
  ])('a request %s is refused: %j', async (_, call, status) => {
    expect((await endpoint.ask(call)).status).toBe(status);
  });

  test.each([
    ['for another resource', { aud: 'https://rs.example/' }, 401, 'invalid_token'],
    ['that has ended', { exp: 1 }, 401, 'invalid_token'],
    ['of another epoch', { epoch: 'x'.repeat(22) }, 401, 'invalid_token'],
    ['without the scope', { scope: 'documents:read' }, 403, 'insufficient_scope'],
    ['without any scope', { scope: undefined }, 403, 'insufficient_scope'],
  ])('a token %s is refused (RFC 6750 section 3.1)', async (_, claims, status, error) => {
    const authorization = `Bearer ${await endpoint.token(claims)}`;
    const answer = await endpoint.ask({ authorization });
    expect(answer.status).toBe(status);
    expect(String(answer.headers['www-authenticate'])).toContain(error);
  });

  test('a token granted by a person is refused', async () => {
    const person = { sub: 'alice', sub_gen: 0, grant_id: 'g' };
    const { status } = await endpoint.ask({
      authorization: `Bearer ${await endpoint.token(person)}`,
    });
    expect(status).toBe(403);
  });

  test('a DPoP-bound token needs its proof (RFC 9449 section 7.1)', async () => {
    const { jkt, proof } = prover(() => Math.floor(clock.now() / 1000));
    const token = await endpoint.token({ cnf: { jkt } });
    const fields = { DPoP: proof(token, { htu: URL_OF_ENDPOINT }) };
    expect((await endpoint.ask({ authorization: `Bearer ${token}`, fields })).status).toBe(401);
    expect((await endpoint.ask({ authorization: `DPoP ${token}` })).status).toBe(401);
    expect((await endpoint.ask({ authorization: `DPoP ${token}`, fields })).status).toBe(200);
  });

  test('a client that is removed while it waits gets the revocation, and is refused afterwards', async () => {
    const authorization = `Bearer ${await endpoint.token()}`;
    const { cursor } = await page('', authorization);
    clock.advance(OVER - 1);
    const beat = (await rows())[0]?.beat ?? 0;
    const waiting = page(`?after=${cursor}&wait=15`, authorization);
    await eventually(async () => expect((await rows())[0]?.beat).toBeGreaterThan(beat));
    await stores.revocations.raise('client', 'follower', FAR);
    expect((await waiting).entries).toHaveLength(1);
    expect((await endpoint.ask({ authorization })).status).toBe(401);
  });

  test('attack: if one client sends a thousand waiting requests, only some of them wait, and other clients can follow', async () => {
    const authorization = `Bearer ${await endpoint.token()}`;
    const { cursor } = await page('', authorization);
    const id = (n: number) => String(n).padStart(22, 'x');
    const own = (n: number) => cursor.replace(/\.[\w-]{22}\./, `.${id(n)}.`);
    const answers = Array.from({ length: 1_000 }, (_, n) =>
      endpoint.ask({ query: `?after=${own(n)}&wait=15`, authorization }),
    );
    const refused = 1_000 - (MOST_FOLLOWERS.client - 1);
    let known = 0;
    for (const answer of answers)
      void answer.then(({ status }) => (known += Number(status === 429)));
    await eventually(() => expect(known).toBe(refused));
    const modest = `Bearer ${await endpoint.token({ sub: 'modest', client_id: 'modest' })}`;
    await page('', modest);
    await revoke('wakes them');
    const statuses = (await Promise.all(answers)).map(({ status, headers }) => {
      if (status === 429) expect(headers['retry-after']).toBe('1');
      return status;
    });
    expect(statuses.filter((status) => status === 200)).toHaveLength(MOST_FOLLOWERS.client - 1);
  });
});

describe('request methods and parameters', () => {
  test('the endpoint accepts only GET and HEAD (RFC 9110 section 9.1)', async () => {
    const { status, headers } = await endpoint.ask({ method: 'POST' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(await endpoint.ask({ method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
    expect((await endpoint.ask({ method: 'HEAD', authorization: '' })).status).toBe(401);
  });

  test.each([
    'after=',
    'after=x',
    'after=1',
    `after=1.${'x'.repeat(22)}`,
    `after=1.${'x'.repeat(22)}.${'x'.repeat(65)}`,
    `after=-1.${'x'.repeat(22)}.${'x'.repeat(22)}`,
    `after=${'9'.repeat(400)}.${'x'.repeat(22)}.${'x'.repeat(22)}`,
    `after=1%00.${'x'.repeat(22)}.${'x'.repeat(22)}`,
    `after=1.${'x'.repeat(22)}.${'x'.repeat(22)}&after=2.${'x'.repeat(22)}.${'x'.repeat(22)}`,
    'wait=',
    'wait=x',
    'wait=-1',
    'wait=1e3',
    'wait=Infinity',
    'wait=NaN',
    'wait=1&wait=1',
    `wait=${'1'.repeat(100)}`,
  ])('a request with %s gets 400', async (query) => {
    expect((await endpoint.ask({ query: `?${query}` })).status).toBe(400);
  });
});
