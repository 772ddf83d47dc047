import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  assertAlive,
  assertSound,
  entriesOf,
  type Reply,
  startTreeServers,
  stateOf,
  tally,
  tenAtOnce,
  type Tenant,
  type TreeServers,
} from './trees.fixture.ts';

/** Locks hold across processes (RFC 4918 section 6), from the answer to LOCK until the answer to UNLOCK. */
const ROUND = [0, 1, 2];

const lockinfo = (scope: 'exclusive' | 'shared') =>
  `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((one) => one.status === status).length;

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
  const lock = (
    server: number,
    path: string,
    {
      scope = 'exclusive',
      depth = 'infinity',
    }: { scope?: 'exclusive' | 'shared'; depth?: string } = {},
  ) =>
    ask(server, 'LOCK', path, {
      headers: { 'Content-Type': 'application/xml', Depth: depth, Timeout: 'Second-600' },
      body: lockinfo(scope),
    });
  const unlock = (server: number, path: string, token: string) =>
    ask(server, 'UNLOCK', path, { headers: { 'Lock-Token': token } });
  /** The lock token with its angle brackets. */
  const tokenOf = ({ headers }: Reply) => headers.get('Lock-Token') ?? '';
  const submit = (token: string) => ({ If: `(${token})` });
  const locksNow = async () => (await stateOf(servers, me.tree)).locks;

  describe('LOCK (RFC 4918 section 9.10)', () => {
    test('ten exclusive locks of a document at once: one is granted, nine get 423', async () => {
      await arrive();
      for (const round of ROUND) {
        await put(0, `${round}`, 'content');
        const replies = await tenAtOnce((n) => lock(n, `${round}`));
        expect(tally(replies)).toEqual({ 200: 1, 423: 9 });
        const tokens = replies.map(tokenOf).filter((token) => token !== '');
        expect(await locksNow()).toHaveLength(round + 1);
        expect(tokens).toEqual([expect.stringMatching(/^<urn:uuid:/)]);
        expect((await put(round, `${round}`, 'mine', submit(tokens[0] ?? ''))).status).toBe(204);
      }
      await assertSound(servers, me.tree);
    });

    test('ten exclusive locks of a missing document at once: one is granted with 201 (section 7.3), nine get 423', async () => {
      await arrive();
      for (const round of ROUND) {
        const replies = await tenAtOnce((n) => lock(n, `${round}`));
        expect(tally(replies)).toEqual({ 201: 1, 423: 9 });
      }
      expect(await locksNow()).toHaveLength(ROUND.length);
      await assertSound(servers, me.tree);
    });

    test('ten shared locks are granted at once, and then an exclusive lock gets 423', async () => {
      await arrive();
      const replies = await tenAtOnce((n) => lock(n, 'a', { scope: 'shared' }));
      expect(tally(replies)).toEqual({ 200: 9, 201: 1 });
      expect(new Set((await locksNow()).map(({ token }) => `<${token}>`))).toEqual(
        new Set(replies.map(tokenOf)),
      );
      expect((await lock(0, 'a')).status).toBe(423);
      await assertSound(servers, me.tree);
    });

    test('shared and exclusive locks at once: all granted locks are compatible (section 6.2)', async () => {
      await arrive();
      for (const round of ROUND) {
        await put(0, `${round}`, 'content');
        const scopeOf = (n: number) => (n % 3 === 0 ? 'exclusive' : 'shared');
        const replies = await tenAtOnce((n) => lock(n, `${round}`, { scope: scopeOf(n) }));
        const granted = replies.flatMap(({ status }, n) => (status === 200 ? [scopeOf(n)] : []));
        expect(count(replies, 423)).toBe(10 - granted.length);
        expect([['exclusive'], Array<string>(6).fill('shared')]).toContainEqual(granted);
      }
    });

    test('locks of a collection with depth infinity and locks of its member at once: one is granted', async () => {
      await arrive();
      for (const round of ROUND) {
        await ask(0, 'MKCOL', `${round}/`);
        await put(1, `${round}/x`, 'x');
        const replies = await tenAtOnce((n) => lock(n, n < 5 ? `${round}/` : `${round}/x`));
        expect(count(replies, 200)).toBe(1);
        // A 207 answer names the locked member (section 9.10.3). Only a client that locks the collection
        // gets it.
        expect(count(replies, 423) + count(replies, 207)).toBe(9);
        expect(replies.slice(5).map(({ status }) => status)).not.toContain(207);
        expect(await locksNow()).toHaveLength(round + 1);
      }
    });

    test('a client that reads and writes under a lock loses no update, without a condition', async () => {
      await arrive();
      await put(0, 'a', '0');
      let held = 0;
      await tenAtOnce(async (n) => {
        for (let turn = 0; turn < 4; turn += 1) {
          const granted = await lock(n, 'a');
          if (granted.status !== 200) {
            expect(granted.status).toBe(423);
            continue;
          }
          held += 1;
          const { text } = await ask(n + 1, 'GET', 'a');
          const token = tokenOf(granted);
          expect((await put(n, 'a', `${Number(text) + 1}`, submit(token))).status).toBe(204);
          expect((await unlock(n + 1, 'a', token)).status).toBe(204);
        }
      });
      expect(held).toBeGreaterThan(0);
      expect((await ask(0, 'GET', 'a')).text).toBe(`${held}`);
      expect(await locksNow()).toEqual([]);
    });
  });

  describe('LOCK against writes without its token (section 7)', () => {
    test('after LOCK is granted, no PUT changes the content', async () => {
      for (const round of ROUND) {
        await arrive();
        await put(0, 'a', 'before');
        const writing = tenAtOnce((n) => put(n, 'a', `${n}`));
        const granted = await lock(round, 'a');
        expect(granted.status).toBe(200);
        const [seen, late] = await Promise.all([ask(0, 'GET', 'a'), put(1, 'a', 'late')]);
        expect(late.status).toBe(423);
        for (const { status } of await writing) expect([204, 423]).toContain(status);
        expect((await ask(1, 'GET', 'a')).headers.get('ETag')).toBe(seen.headers.get('ETag'));
        expect((await put(1, 'a', 'mine', submit(tokenOf(granted)))).status).toBe(204);
        await assertSound(servers, me.tree);
      }
    });

    test('a lock of a collection against requests that add or remove members (section 7.4)', async () => {
      for (const round of ROUND) {
        await arrive();
        await ask(0, 'MKCOL', 'a/');
        for (const name of ['c', 'd', 'm']) await put(0, `a/${name}`, name);
        await put(0, 'x', 'x');
        const writing = Promise.all([
          put(0, 'a/1', '1'),
          put(1, 'a/2', '2'),
          ask(0, 'POST', 'a/', { body: 'posted' }),
          ask(1, 'MKCOL', 'a/3/'),
          ask(0, 'DELETE', 'a/d'),
          ask(1, 'MOVE', 'a/m', { headers: { Destination: '/dav/m' } }),
          ask(0, 'MOVE', 'x', { headers: { Destination: '/dav/a/x' } }),
          ask(1, 'COPY', 'a/c', { headers: { Destination: '/dav/a/cc' } }),
        ]);
        const granted = await lock(round, 'a/');
        expect(granted.status).toBe(200);
        const seen = await entriesOf(servers, me.tree);
        for (const { status } of await writing) expect([201, 204, 423]).toContain(status);
        expect(await entriesOf(servers, me.tree)).toEqual(seen);
        await assertSound(servers, me.tree);
      }
    });

    test('DELETE of a collection leaves no lock of a deleted member (section 9.6)', async () => {
      for (const round of ROUND) {
        await arrive();
        await ask(0, 'MKCOL', 'a/');
        const [removed, ...locks] = await tenAtOnce((n) =>
          n === 0 ? ask(round, 'DELETE', 'a/') : lock(n, `a/${n}`),
        );
        // A member that is locked by then prevents its deletion (section 9.6.1).
        expect([204, 207]).toContain(removed?.status);
        expect(tally(locks)).toEqual(removed?.status === 204 ? { 409: 9 } : { 201: 9 });
        expect(await locksNow()).toHaveLength(count(locks, 201));
        await assertSound(servers, me.tree);
      }
    });

    test('during MOVE, a lock stays at its address or is not granted (section 7.6)', async () => {
      for (const round of ROUND) {
        await arrive();
        await put(0, 'a', 'content');
        const [moved, granted] = await Promise.all([
          ask(round, 'MOVE', 'a', { headers: { Destination: '/dav/b' } }),
          lock(round + 1, 'a'),
        ]);
        expect([201, 423]).toContain(moved.status);
        // 201: the document had moved, so the lock created an empty document.
        expect([200, 201, 404]).toContain(granted.status);
        expect(granted.status === 200).toBe(moved.status === 423);
        for (const { root } of await locksNow()) expect(root).toBe('a');
        await assertSound(servers, me.tree);
      }
    });
  });

  describe('UNLOCK (section 9.11)', () => {
    test('one of ten requests that end one lock at the same time succeeds, and nine get 409', async () => {
      await arrive();
      for (const round of ROUND) {
        const token = tokenOf(await lock(0, `${round}`));
        const replies = await tenAtOnce((n) => unlock(n, `${round}`, token));
        expect(tally(replies)).toEqual({ 204: 1, 409: 9 });
      }
      expect(await locksNow()).toEqual([]);
    });

    test('after UNLOCK is answered, no PUT with its token changes the content', async () => {
      for (const round of ROUND) {
        await arrive();
        const token = tokenOf(await lock(0, 'a'));
        const writing = tenAtOnce((n) => put(n, 'a', `${n}`, submit(token)));
        expect((await unlock(round, 'a', token)).status).toBe(204);
        const seen = await ask(0, 'GET', 'a');
        for (const { status } of await writing) expect([204, 412]).toContain(status);
        expect((await ask(1, 'GET', 'a')).headers.get('ETag')).toBe(seen.headers.get('ETag'));
        await assertSound(servers, me.tree);
      }
    });

    test('after UNLOCK is answered, a refresh does not restore the lock (section 9.10.2)', async () => {
      for (const round of ROUND) {
        await arrive();
        const token = tokenOf(await lock(0, 'a'));
        const refreshing = tenAtOnce((n) => ask(n, 'LOCK', 'a', { headers: submit(token) }));
        expect((await unlock(round, 'a', token)).status).toBe(204);
        for (const { status } of await refreshing) expect([200, 412]).toContain(status);
        expect(await locksNow()).toEqual([]);
        expect((await lock(1, 'a')).status).toBe(200);
      }
    });
  });

  test('section 6.1: twenty clients that lock and unlock their own documents do not block writes to other documents', async () => {
    await arrive();
    const writing = new Set(Array.from({ length: 4 }, (_, n) => n));
    const lockers = Array.from({ length: 20 }, async (_, n) => {
      const replies: Reply[] = [];
      do {
        const granted = await lock(n, `own-${n}`);
        replies.push(granted, await unlock(n + 1, `own-${n}`, tokenOf(granted)));
      } while (writing.size > 0);
      return replies;
    });
    const writers = [...writing].map(async (n) => {
      const replies: Reply[] = [];
      for (let turn = 0; turn < 3; turn += 1) replies.push(await put(turn, `${n}-${turn}`, 'x'));
      writing.delete(n);
      return replies;
    });
    const written = (await Promise.all(writers)).flat();
    expect(tally(written)).toEqual({ 201: 12 });
    const answers = tally((await Promise.all(lockers)).flat());
    expect(Object.keys(answers)).toEqual(['200', '201', '204']);
    expect(await locksNow()).toEqual([]);
    await assertSound(servers, me.tree);
  });

  test('both servers still run, and no logged error is a defect', () => assertAlive(servers));
});
