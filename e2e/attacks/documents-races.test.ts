import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { NO_QUOTA } from '#shared/stores/contract/samples.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  assertAlive,
  assertSound,
  entriesOf,
  QUOTA,
  type Reply,
  startTreeServers,
  tally,
  tenAtOnce,
  type Tenant,
  type TreeServers,
} from './trees.fixture.ts';

/** Concurrent requests at two resource servers: one wins each race, and no acknowledged write is lost. */
const ROUNDS = 3;
const ROUND = Array.from({ length: ROUNDS }, (_, n) => `${n}`);

const TEN = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

const json = { 'Content-Type': 'application/json' };
const patch = { 'Content-Type': 'application/json-patch+json' };
const merge = { 'Content-Type': 'application/merge-patch+json' };
const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);
const count = (replies: readonly Reply[], status: number) =>
  statuses(replies).filter((one) => one === status).length;

describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TreeServers;
  let me: Tenant;
  beforeAll(async () => {
    servers = await startTreeServers(kind);
  });
  afterAll(async () => servers[Symbol.asyncDispose]());

  async function arrive(): Promise<void> {
    me = await servers.newcomer();
  }
  const ask: Tenant['ask'] = (...args) => me.ask(...args);
  const put = (server: number, path: string, body: string, headers = {}) =>
    ask(server, 'PUT', path, { body, headers });
  const to = (path: string, overwrite: 'T' | 'F' = 'T') => ({
    headers: { Destination: `/dav/${path}`, Overwrite: overwrite },
  });
  async function pathsIn(tree: Tenant): Promise<string[]> {
    return (await entriesOf(servers, tree.tree)).map(({ path }) => path);
  }

  /** Puts documents into a collection until the collection is gone; after the first five, does `work`. */
  async function whileFilling(collection: string, work: () => Promise<Reply>) {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const filled: string[] = [];
    async function fill(lane: number): Promise<void> {
      for (let n = 0; ; n += 1) {
        const name = `${lane}-${String(n).padStart(4, '0')}`;
        const { status } = await put(lane, `${collection}/${name}`, name);
        if (status === 409) return;
        expect(status).toBe(201);
        filled.push(name);
        if (filled.length === 5) begin();
      }
    }
    const lanes = tenAtOnce(fill);
    await begun;
    const { status } = await work();
    await lanes;
    return { status, filled: filled.toSorted() };
  }

  describe('PUT (RFC 9110 section 13.1)', () => {
    test('ten with one If-Match at once: one succeeds, nine get 412', async () => {
      await arrive();
      let etag = (await put(0, 'a', 'first')).headers.get('ETag') ?? '';
      for (const round of ROUND) {
        const condition = { 'If-Match': etag };
        const replies = await tenAtOnce((n) => put(n, 'a', `${round} ${n}`, condition));
        expect(tally(replies)).toEqual({ 204: 1, 412: 9 });
        const winner = statuses(replies).indexOf(204);
        etag = replies[winner]?.headers.get('ETag') ?? '';
        for (const server of [0, 1]) {
          const found = await ask(server, 'GET', 'a');
          expect([found.text, found.headers.get('ETag')]).toEqual([`${round} ${winner}`, etag]);
        }
      }
      await assertSound(servers, me.tree);
    });

    test('ten with If-None-Match: * at once: one creates the document, nine get 412', async () => {
      await arrive();
      for (const round of ROUND) {
        const condition = { 'If-None-Match': '*' };
        const replies = await tenAtOnce((n) => put(n, round, `${n}`, condition));
        expect(tally(replies)).toEqual({ 201: 1, 412: 9 });
        expect((await ask(0, 'GET', round)).text).toBe(`${statuses(replies).indexOf(201)}`);
      }
      await assertSound(servers, me.tree);
    });

    test('ten without a condition: one creates the document, and it has the whole content of one request', async () => {
      await arrive();
      for (const round of ROUND) {
        const bodies = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(100_000));
        const replies = await tenAtOnce((n) => put(n, round, bodies[n] ?? ''));
        expect(tally(replies)).toEqual({ 201: 1, 204: 9 });
        const { text, headers } = await ask(1, 'GET', round);
        const last = bodies.indexOf(text);
        expect(replies[last]?.headers.get('ETag')).toBe(headers.get('ETag'));
      }
      await assertSound(servers, me.tree);
    });

    test.each([400, 400_000])(
      'during PUT, GET at both servers reads whole states from memory and disk (%d bytes), none older than acknowledged',
      async (length) => {
        await arrive();
        let acknowledged = 0;
        const state = (n: number) => `${n}`.padStart(4, '0').repeat(length / 4);
        const tags = new Map<string, number>();
        await put(0, 'a', state(0));
        async function write(): Promise<void> {
          for (let n = 1; n <= 12; n += 1) {
            const { headers } = await put(n, 'a', state(n));
            tags.set(headers.get('ETag') ?? '', n);
            acknowledged = n;
          }
        }
        async function read(lane: number): Promise<void> {
          for (let last = 0; last < 12;) {
            const least = Math.max(acknowledged, last);
            const { status, text, headers } = await ask(lane, 'GET', 'a');
            last = Number(text.slice(0, 4));
            expect({ status, whole: text === state(last) }).toEqual({ status: 200, whole: true });
            expect(last).toBeGreaterThanOrEqual(least);
            expect(tags.get(headers.get('ETag') ?? '') ?? last).toBe(last);
          }
        }
        await tenAtOnce((n) => (n === 0 ? write() : read(n)));
        await assertSound(servers, me.tree);
      },
    );

    test('against DELETE: creations equal removals, plus one if the document is left', async () => {
      await arrive();
      for (const round of ROUND) {
        const replies = await tenAtOnce((n) =>
          n < 5 ? put(n, round, `${n}`) : ask(n, 'DELETE', round),
        );
        const [puts, removals] = [replies.slice(0, 5), replies.slice(5)];
        expect(new Set([...statuses(puts), 201, 204])).toEqual(new Set([201, 204]));
        expect(new Set([...statuses(removals), 204, 404])).toEqual(new Set([204, 404]));
        const { status } = await ask(0, 'GET', round);
        expect(count(puts, 201) - count(removals, 204)).toBe(status === 200 ? 1 : 0);
      }
      await assertSound(servers, me.tree);
    });

    test.each([1000, 100_000])(
      'against COPY: each copy is a whole state with the right entity tag (%d bytes)',
      async (length) => {
        await arrive();
        const bodies = Array.from({ length: 6 }, (_, n) => `${n}`.repeat(length));
        for (const round of ROUND) {
          await put(0, 'a', bodies[5] ?? '');
          const replies = await tenAtOnce((n) =>
            n < 5 ? put(n, 'a', bodies[n] ?? '') : ask(n, 'COPY', 'a', to(`${round}-${n}`)),
          );
          expect(tally(replies)).toEqual({ 204: 5, 201: 5 });
          const tags = new Map<string, string>();
          for (let n = 5; n < 10; n += 1) {
            const { text, headers } = await ask(n, 'GET', `${round}-${n}`);
            expect(bodies).toContain(text);
            const tag = headers.get('ETag') ?? '';
            expect(tags.get(tag) ?? text).toBe(text);
            tags.set(tag, text);
          }
        }
        await assertSound(servers, me.tree);
      },
    );
  });

  test('POST (RFC 9110 section 9.3.3): ten requests at once make ten documents', async () => {
    await arrive();
    const replies = await tenAtOnce((n) => ask(n, 'POST', '', { body: `${n}` }));
    expect(tally(replies)).toEqual({ 201: 10 });
    const paths = replies.map(({ headers }) => new URL(headers.get('Location') ?? '').pathname);
    expect(new Set(paths).size).toBe(10);
    for (const [n, path] of paths.entries()) {
      expect((await ask(n + 1, 'GET', path)).text).toBe(`${n}`);
    }
    await assertSound(servers, me.tree);
  });

  test('MKCOL (RFC 4918 section 9.3.1): of ten at once one makes the collection, nine get 405', async () => {
    await arrive();
    for (const round of ROUND) {
      const replies = await tenAtOnce((n) => ask(n, 'MKCOL', n < 5 ? round : `${round}/`));
      expect(tally(replies)).toEqual({ 201: 1, 405: 9 });
    }
    expect(await pathsIn(me)).toEqual(ROUND);
  });

  test('MKCOL against PUT: the address becomes a collection or a document, never both', async () => {
    await arrive();
    for (const round of ROUND) {
      const replies = await tenAtOnce((n) =>
        n < 5 ? put(n, round, `${n}`) : ask(n, 'MKCOL', round),
      );
      const [puts, collections] = [replies.slice(0, 5), replies.slice(5)];
      const isDocument = count(puts, 405) === 0;
      expect(tally(puts)).toEqual(isDocument ? { 201: 1, 204: 4 } : { 405: 5 });
      expect(tally(collections)).toEqual(isDocument ? { 405: 5 } : { 201: 1, 405: 4 });
    }
    await assertSound(servers, me.tree);
  });

  describe('PROPPATCH (RFC 4918 section 9.2)', () => {
    const names = Array.from({ length: 10 }, (_, n) => `p${n}`);
    const setProperty = (server: number, name: string, value: string) =>
      ask(server, 'PROPPATCH', 'a', {
        headers: { 'Content-Type': 'application/xml' },
        body: `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>
          <${name} xmlns="urn:x">${value}</${name}>
        </D:prop></D:set></D:propertyupdate>`,
      });
    const allprop = async (server: number) => (await ask(server, 'PROPFIND', 'a')).text;

    test('ten changes of one property at once: one value is left, the same at both servers', async () => {
      await arrive();
      const { headers } = await put(0, 'a', 'content');
      const replies = await tenAtOnce((n) => setProperty(n, 'p', `value ${n}`));
      expect(tally(replies)).toEqual({ 207: 10 });
      const found = await allprop(0);
      expect(found.match(/value \d/g)).toHaveLength(1);
      expect(await allprop(1)).toBe(found);
      expect((await ask(0, 'GET', 'a')).headers.get('ETag')).toBe(headers.get('ETag'));
    });

    test('ten changes of different properties beside a PUT: none is lost', async () => {
      await arrive();
      for (const round of ROUND) {
        await put(0, 'a', 'before');
        const [written, ...replies] = await Promise.all([
          put(1, 'a', `after ${round}`),
          ...names.map((name, n) => setProperty(n, name, round)),
        ]);
        expect(written?.status).toBe(204);
        expect(tally(replies)).toEqual({ 207: 10 });
        const found = await allprop(Number(round));
        for (const name of names) expect(found).toMatch(new RegExp(`<${name}[^>]*>${round}</`));
        expect((await ask(0, 'GET', 'a')).text).toBe(`after ${round}`);
        await ask(1, 'DELETE', 'a');
      }
      await assertSound(servers, me.tree);
    });
  });

  describe('PATCH (RFC 5789 section 2)', () => {
    test('ten additions to one list at once: none is lost, none is doubled', async () => {
      await arrive();
      await put(0, 'a', '[]', json);
      const replies = await tenAtOnce((n) =>
        ask(n, 'PATCH', 'a', { body: `[{"op":"add","path":"/-","value":${n}}]`, headers: patch }),
      );
      expect(tally(replies)).toEqual({ 204: 10 });
      const list = JSON.parse((await ask(1, 'GET', 'a')).text) as number[];
      expect(new Set(list)).toEqual(TEN);
      expect(list).toHaveLength(10);
      await assertSound(servers, me.tree);
    });

    test('RFC 6902 section 4.6: of ten patches with one test operation one succeeds, nine get 409', async () => {
      await arrive();
      await put(0, 'a', '{"turn":0}', json);
      for (const round of [0, 1, 2]) {
        const body = JSON.stringify([
          { op: 'test', path: '/turn', value: round },
          { op: 'replace', path: '/turn', value: round + 1 },
        ]);
        const replies = await tenAtOnce((n) => ask(n, 'PATCH', 'a', { body, headers: patch }));
        expect(tally(replies)).toEqual({ 204: 1, 409: 9 });
      }
    });

    test('ten clients that raise one counter with If-Match at once: no increment is lost', async () => {
      await arrive();
      await put(0, 'a', '{"n":0}', json);
      const replies = await tenAtOnce(async (n) => {
        for (;;) {
          const { text, headers: found } = await ask(n, 'GET', 'a');
          const body = JSON.stringify({ n: (JSON.parse(text) as { n: number }).n + 1 });
          const headers = { ...merge, 'If-Match': found.get('ETag') ?? '' };
          const reply = await ask(n + 1, 'PATCH', 'a', { body, headers });
          // 503: too many requests of this account are under way.
          if (![412, 503].includes(reply.status)) return reply;
        }
      });
      expect(tally(replies)).toEqual({ 204: 10 });
      expect((await ask(1, 'GET', 'a')).text).toBe('{"n":10}');
      await assertSound(servers, me.tree);
    });

    test('ten patches of one missing document: one creates it, and the server merges the other nine into it', async () => {
      await arrive();
      const replies = await tenAtOnce((n) =>
        ask(n, 'PATCH', 'a', { body: `{"n${n}":${n}}`, headers: merge }),
      );
      expect(tally(replies)).toEqual({ 201: 1, 204: 9 });
      const found = JSON.parse((await ask(0, 'GET', 'a')).text) as Record<string, number>;
      expect(new Set(Object.values(found))).toEqual(TEN);
      await assertSound(servers, me.tree);
    });
  });

  describe('MOVE (RFC 4918 section 9.9)', () => {
    test('if a tree is moved during PUTs into it, each document has one address and is in a collection', async () => {
      for (const round of ROUND) {
        await arrive();
        await ask(0, 'MKCOL', 'a/');
        await ask(1, 'MKCOL', 'a/deep/');
        await put(0, 'a/deep/old', 'old');
        const { filled, status } = await whileFilling('a/deep', () =>
          ask(Number(round), 'MOVE', 'a/', to('b/')),
        );
        expect(status).toBe(201);
        const found = filled.map((name) => `b/deep/${name}`);
        expect(await pathsIn(me)).toEqual(['b', 'b/deep', ...found, 'b/deep/old']);
        await assertSound(servers, me.tree);
      }
    });

    test('moves there and back at once, without Overwrite: the collection is at one address, whole', async () => {
      await arrive();
      await ask(0, 'MKCOL', 'a/');
      await put(0, 'a/x', 'x');
      for (const round of ROUND) {
        const before = (await pathsIn(me)).includes('a') ? 1 : 0;
        const replies = await tenAtOnce((n) =>
          n < 5 ? ask(n, 'MOVE', 'a/', to('b/', 'F')) : ask(n, 'MOVE', 'b/', to('a/', 'F')),
        );
        for (const status of statuses(replies)) expect([201, 404]).toContain(status);
        const [there, back] = [count(replies.slice(0, 5), 201), count(replies.slice(5), 201)];
        const at = before - there + back === 1 ? 'a' : 'b';
        expect(await pathsIn(me)).toEqual([at, `${at}/x`]);
        expect((await ask(Number(round), 'GET', `${at}/x`)).text).toBe('x');
      }
      await assertSound(servers, me.tree);
    });

    test('two collections moved over each other: one is left, with the other inside', async () => {
      for (const round of ROUND) {
        await arrive();
        for (const name of ['a', 'b']) {
          await ask(0, 'MKCOL', `${name}/`);
          await put(1, `${name}/${name}`, name);
        }
        const replies = await Promise.all([
          ask(Number(round), 'MOVE', 'a/', to('b/')),
          ask(Number(round) + 1, 'MOVE', 'b/', to('a/')),
        ]);
        // The first MOVE replaces the other collection, and the second brings it back.
        expect(tally(replies)).toEqual({ 201: 1, 204: 1 });
        const [first, last] = replies[0]?.status === 204 ? ['a', 'a'] : ['b', 'b'];
        expect(await pathsIn(me)).toEqual([first, `${first}/${last}`]);
        await assertSound(servers, me.tree);
      }
    });

    test('ten moves to one free address: one succeeds, nine get 412 and stay', async () => {
      await arrive();
      await tenAtOnce((n) => put(n, `a${n}`, `${n}`));
      const replies = await tenAtOnce((n) => ask(n, 'MOVE', `a${n}`, to('b', 'F')));
      expect(tally(replies)).toEqual({ 201: 1, 412: 9 });
      const winner = statuses(replies).indexOf(201);
      expect((await ask(0, 'GET', 'b')).text).toBe(`${winner}`);
      expect(await pathsIn(me)).toHaveLength(10);
      await assertSound(servers, me.tree);
    });
  });

  test('COPY of a tree to one free address: of ten at once one succeeds, nine get 412 (section 9.8.5)', async () => {
    await arrive();
    await ask(0, 'MKCOL', 'a/');
    for (const name of ['x', 'y', 'z']) await put(0, `a/${name}`, name);
    for (const round of ROUND) {
      const replies = await tenAtOnce((n) => ask(n, 'COPY', 'a/', to(`b${round}/`, 'F')));
      expect(tally(replies)).toEqual({ 201: 1, 412: 9 });
    }
    expect(await pathsIn(me)).toHaveLength(4 * (1 + ROUNDS));
    await assertSound(servers, me.tree);
  });

  test('DELETE of a tree during PUTs into it leaves nothing (RFC 4918 section 9.6.1)', async () => {
    for (const round of ROUND) {
      await arrive();
      await ask(0, 'MKCOL', 'a/');
      const { status } = await whileFilling('a', () => ask(Number(round), 'DELETE', 'a/'));
      expect(status).toBe(204);
      expect(await pathsIn(me)).toEqual([]);
      await assertSound(servers, me.tree);
    }
  });

  describe('the quota (RFC 4331 section 6)', () => {
    const used = async () => (await servers.stores.trees.look(me.tree, [])).usage;

    test('ten uploads that together exceed the quota: only as many as fit are stored', async () => {
      await arrive();
      const body = 'x'.repeat(QUOTA.bytes / 8 - 1);
      let most = 0;
      const watch = async () => {
        for (let look = 0; look < 10; look += 1) most = Math.max(most, (await used()).bytes);
      };
      const [replies] = await Promise.all([tenAtOnce((n) => put(n, `${n}`, body)), watch()]);
      expect(tally(replies)).toEqual({ 201: 8, 507: 2 });
      expect(Math.max(most, (await used()).bytes)).toBeLessThanOrEqual(QUOTA.bytes);
      await assertSound(servers, me.tree);
      const copies = await tenAtOnce((n) =>
        ask(n, 'COPY', `${statuses(replies).indexOf(201)}`, to(`c${n}`)),
      );
      expect(tally(copies)).toEqual({ 507: 10 });
      const smaller = await tenAtOnce((n) => put(n, `${statuses(replies).indexOf(201)}`, 'less'));
      expect(tally(smaller)).toEqual({ 204: 10 });
      await assertSound(servers, me.tree);
    });

    test('PUT, MKCOL and COPY share the limit of resources', async () => {
      await arrive();
      await put(0, 'a', 'content');
      const [original] = (await entriesOf(servers, me.tree)) as [Document];
      const full = Array.from({ length: QUOTA.entries - 5 }, (_, n) => ({
        kind: 'put' as const,
        entry: { ...original, path: `f${n}`, revision: randomId(systemRandom) },
      }));
      const change = { seen: new Map(), locksVersion: '0', quota: NO_QUOTA, edits: full };
      expect(await servers.stores.trees.commit(me.tree, change)).toMatchObject({ kind: 'done' });
      const works = [
        (n: number) => put(n, `n${n}`, `${n}`),
        (n: number) => ask(n, 'MKCOL', `n${n}`),
        (n: number) => ask(n, 'COPY', 'a', to(`n${n}`)),
      ];
      const replies = await tenAtOnce((n) => works[n % 3]?.(n) ?? put(n, `n${n}`, ''));
      expect(tally(replies)).toEqual({ 201: 4, 507: 6 });
      expect((await used()).entries).toBe(QUOTA.entries);
      await assertSound(servers, me.tree);
    });
  });

  test('both servers still run, and no logged error is a defect', () => assertAlive(servers));
});
