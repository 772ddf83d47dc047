import { describe, expect, test } from '@jest/globals';
import type { Stores } from '#shared/stores/stores.ts';
import type { Trees } from '#shared/stores/trees/trees.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

const withTrees =
  (change: (trees: Trees) => Partial<Trees>) =>
  (stores: Stores): Stores => ({ ...stores, trees: { ...stores.trees, ...change(stores.trees) } });

const to = (path: string) => ({ headers: { Destination: `/documents/${path}` } });

/** Creates a collection with a document `a`. */
async function collection({ as }: TestResourceServer, path: string): Promise<void> {
  expect((await as('MKCOL', `/documents/${path}`)).status).toBe(201);
  expect((await as('PUT', `/documents/${path}/a`, { body: path })).status).toBe(201);
}

describe('RFC 4918 section 4: dead properties of many', () => {
  const colour = (length: number) =>
    `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><colour>${'x'.repeat(length)}</colour></D:prop></D:set></D:propertyupdate>`;

  test("RFC 4331 section 6: copying dead properties over the tree's quota of properties is 507, despite room for content", async () => {
    await using rs = await startResourceServer({ documents: { quota: { properties: 100_000 } } });
    const xml = { headers: { 'Content-Type': 'application/xml' } };
    await rs.as('MKCOL', '/documents/0');
    const set = (path: string, length: number) =>
      rs.as('PROPPATCH', `/documents/${path}`, { ...xml, body: colour(length) });
    expect((await set('0/', 30_000)).text).toContain('200 OK');
    const statuses: number[] = [];
    for (let n = 1; n < 10; n += 1) {
      statuses.push((await rs.as('COPY', '/documents/0/', to(`${n}`))).status);
    }
    expect(statuses).toEqual([201, 201, 507, 507, 507, 507, 507, 507, 507]);
    const refused = await rs.as('COPY', '/documents/0/', to('3'));
    expect(refused.text).toContain('<D:quota-not-exceeded/>');
    expect((await rs.as('PUT', '/documents/a', { body: 'x'.repeat(90_000) })).status).toBe(201);
    expect((await rs.as('MOVE', '/documents/0/', to('3'))).status).toBe(201);
    expect((await set('3/', 10)).text).toContain('200 OK');
    expect((await rs.as('COPY', '/documents/1/', to('4'))).status).toBe(201);
  });

  test('RFC 9110 section 9.3.1: a listing and a query do not read dead properties', async () => {
    let read = 0;
    await using rs = await startResourceServer(
      {},
      withTrees((trees) => ({
        members: (...about) => {
          read += 1;
          return trees.members(...about);
        },
      })),
    );
    await collection(rs, 'c');
    const list = (accept: string) => rs.as('GET', '/documents/c/', { headers: { Accept: accept } });
    expect((await list('application/json')).text).toContain('"name":"a"');
    expect((await list('text/html')).text).toContain('href="./a"');
    const queried = await rs.as('QUERY', '/documents/c/', {
      headers: { 'Content-Type': 'application/jsonpath' },
      body: '$[*].name',
    });
    expect(queried.text).toBe('["a"]');
    expect(read).toBe(0);
  });
});

describe('RFC 4918 sections 9.6, 9.8 and 9.9: many changes of whole trees at once', () => {
  test('changes of whole trees run one at a time, a few wait, more get 503, and requests for single documents do not wait', async () => {
    const first = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    await using rs = await startResourceServer(
      {},
      withTrees((trees) => ({
        async commit(tree, change) {
          if (!change.edits.some(({ kind }) => kind === 'copy')) return trees.commit(tree, change);
          running += 1;
          most = Math.max(most, running);
          await first.promise;
          const outcome = await trees.commit(tree, change);
          running -= 1;
          return outcome;
        },
      })),
    );
    await collection(rs, 'c');
    await collection(rs, 'there');
    let sentAway = 0;
    const allSentAway = Promise.withResolvers<void>();
    const copies = Array.from({ length: 40 }, async () => {
      const reply = await rs.as('COPY', '/documents/c/', to('there'));
      if (reply.status === 503) sentAway += 1;
      if (sentAway === 31) allSentAway.resolve();
      return reply;
    });
    await allSentAway.promise;
    for (const method of ['DELETE', 'MOVE']) {
      const refused = await rs.as(method, '/documents/there/', to('elsewhere'));
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    }
    expect((await rs.as('GET', '/documents/c/a')).text).toBe('c');
    expect((await rs.as('PUT', '/documents/c/b', { body: 'new' })).status).toBe(201);
    expect((await rs.as('MOVE', '/documents/c/b', to('d'))).status).toBe(201);
    expect((await rs.as('DELETE', '/documents/d')).status).toBe(204);
    expect(running).toBe(1);
    first.resolve();

    const replies = await Promise.all(copies);
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(9);
    expect(statuses.filter((status) => status === 503)).toHaveLength(31);
    for (const { status, headers } of replies) {
      expect(headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    }
    expect(most).toBe(1);
    expect((await rs.as('GET', '/documents/there/a')).text).toBe('c');
    expect((await rs.as('DELETE', '/documents/there/')).status).toBe(204);
  });
});

test('RFC 6585 section 4: an account that has used its share of time cannot change whole trees, only single documents', async () => {
  await using rs = await startResourceServer(
    {},
    withTrees((trees) => ({
      commit(tree, change) {
        if (change.edits.some(({ kind }) => kind === 'copy')) rs.clock.advance(10);
        return trees.commit(tree, change);
      },
    })),
  );
  await collection(rs, 'c');
  expect((await rs.as('COPY', '/documents/c/', to('there'))).status).toBe(201);
  for (const method of ['COPY', 'MOVE', 'DELETE']) {
    const { status, headers } = await rs.as(method, '/documents/there/', to('elsewhere'));
    expect([status, headers['retry-after']]).toEqual([429, '28']);
  }
  expect((await rs.as('MOVE', '/documents/there/a', to('d'))).status).toBe(201);
  expect((await rs.as('PUT', '/documents/c/b', { body: 'new' })).status).toBe(201);
  rs.clock.advance(28);
  expect((await rs.as('DELETE', '/documents/there/')).status).toBe(204);
});

describe('RFC 9110 section 4.1: the longest path', () => {
  test.each(['COPY', 'MOVE'])(
    '%s creates no path that is too long for requests, and says so',
    async (method) => {
      await using rs = await startResourceServer();
      // Four names of 200 bytes, 804 with the slashes.
      const names = ['1', '2', '3', '4'].map((name) => `${name}${'é'.repeat(99)}x`);
      let deep = '';
      for (const name of names) {
        deep += `${encodeURIComponent(name)}/`;
        expect((await rs.as('MKCOL', `/documents/${deep}`)).status).toBe(201);
      }
      await collection(rs, 'c');
      await rs.as('MKCOL', '/documents/c/d');
      const inside = (bytes: number) => `/documents/c/d/${'y'.repeat(bytes)}`;
      // Below `${deep}n/d/` there are 216 bytes left.
      await rs.as('PUT', inside(217), { body: 'long' });
      const go = () => rs.as(method, '/documents/c/', to(`${deep}n`));
      const refused = await go();
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('would be too long');
      expect((await rs.as('GET', inside(217))).text).toBe('long');
      expect((await rs.as('GET', `/documents/${deep}n/a`)).status).toBe(404);

      expect((await rs.as('MOVE', inside(217), to(`c/d/${'y'.repeat(216)}`))).status).toBe(201);
      expect((await go()).status).toBe(201);
      const reached = await rs.as('GET', `/documents/${deep}n/d/${'y'.repeat(216)}`);
      expect(reached.text).toBe('long');
    },
  );
});
