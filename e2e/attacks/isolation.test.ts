import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { membersIn } from '#shared/stores/contract/samples.ts';
import { ONE_STORE } from '../flows/flow.ts';
import {
  assertAlive,
  assertSound,
  entriesOf,
  QUOTA,
  type Reply,
  startTreeServers,
  stateOf,
  sweep,
  type Tenant,
  type TreeServers,
} from './trees.fixture.ts';

/**
 * At `/dav/` each account has its own tree: the same URL names another document, and no account sees
 * another's.
 */
const XML = { 'Content-Type': 'application/xml' };
const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>the owner</D:owner></D:lockinfo>';
const USED = '<D:propfind xmlns:D="DAV:"><D:prop><D:quota-used-bytes/></D:prop></D:propfind>';

/** Document content that contains the name unchanged. */
const escape = (name: string) => JSON.stringify(name);

const etagOf = ({ headers }: Reply) => headers.get('ETag') ?? '';
const put = (who: Tenant, path: string, body: string, headers = {}) =>
  who.ask(0, 'PUT', path, { body, headers });
const get = async (who: Tenant, path: string, server = 1) => {
  const { status, text } = await who.ask(server, 'GET', path);
  return status === 200 ? text : status;
};

describe.each(ONE_STORE)('on %s', (kind) => {
  let servers: TreeServers;
  let alice: Tenant;
  let bob: Tenant;
  /** An application whose name is as much like a person's as it can be. */
  let app: Tenant;
  beforeAll(async () => {
    servers = await startTreeServers(kind);
    [alice, bob] = [await servers.person('alice'), await servers.person('bob')];
    app = await servers.newcomer(alice.tree.slice('/dav?'.length));
  });
  afterAll(async () => servers[Symbol.asyncDispose]());
  const all = () => [alice, bob, app];

  beforeEach(async () => {
    for (const who of all()) {
      for (const { path, kind: what } of await membersIn(servers.stores, who.tree)) {
        const name = encodeURIComponent(path);
        const slash = what === 'collection' ? '/' : '';
        expect((await who.ask(0, 'DELETE', name + slash)).status).toBe(204);
      }
    }
  });

  test('documents: the same URL is another document for each account', async () => {
    for (const [n, who] of all().entries()) {
      for (const other of all().slice(n)) expect(await get(other, 'x')).toBe(404);
      expect((await put(who, 'x', `${n}`)).status).toBe(201);
    }
    for (const [n, who] of all().entries()) {
      for (const server of [0, 1]) expect(await get(who, 'x', server)).toBe(`${n}`);
    }
    expect((await bob.ask(0, 'DELETE', 'x')).status).toBe(204);
    expect([await get(alice, 'x'), await get(bob, 'x'), await get(app, 'x')]).toEqual([
      '0',
      404,
      '2',
    ]);
    const [one] = await entriesOf(servers, alice.tree);
    expect(one?.path).toBe('x');
  });

  test('a tree is named by the id of its person, which is never reused, not by a name or a key', async () => {
    for (const [name, who] of [
      ['alice', alice],
      ['bob', bob],
    ] as const) {
      const person = await servers.stores.people.getByName(name);
      expect(who.tree).toBe(`/dav?person=${person?.id}`);
      expect(who.tree).not.toContain(name);
      await put(who, name, 'content');
      expect(await entriesOf(servers, who.tree)).toHaveLength(1);
    }
    const again = await servers.newcomer(alice.tree.slice('/dav?'.length));
    expect(again.credentials).not.toEqual(app.credentials);
    await put(app, 'x', 'of the application');
    expect(await get(again, 'x')).toBe('of the application');
    expect(await get(alice, 'x')).toBe(404);
  });

  test("entity tags: the tag of another account's document never matches (RFC 9110 section 13.1)", async () => {
    const [one, other] = [await put(alice, 'x', 'same'), await put(bob, 'x', 'same')];
    expect(etagOf(one)).not.toBe(etagOf(other));
    const fresh = await bob.ask(1, 'GET', 'x', { headers: { 'If-None-Match': etagOf(one) } });
    expect(fresh.status).toBe(200);
    expect((await put(bob, 'x', 'other', { 'If-Match': etagOf(one) })).status).toBe(412);
    const tagged = `</dav/x> ([${etagOf(one)}])`;
    expect((await put(bob, 'x', 'other', { If: tagged })).status).toBe(412);
    expect((await put(alice, 'x', 'other', { If: tagged })).status).toBe(204);
  });

  test("locks: another account's lock does not block, is not visible, and cannot be used (RFC 4918 section 6)", async () => {
    for (const who of all()) await put(who, 'x', 'content');
    const granted = await alice.ask(0, 'LOCK', '', { headers: XML, body: LOCKINFO });
    expect(granted.status).toBe(200);
    const token = granted.headers.get('Lock-Token') ?? '';
    expect((await put(alice, 'x', 'other')).status).toBe(423);
    for (const other of [bob, app]) {
      expect((await put(other, 'x', 'other')).status).toBe(204);
      const found = await other.ask(1, 'PROPFIND', '');
      expect(found.text).not.toMatch(/activelock|urn:uuid|the owner/);
      const unlock = { headers: { 'Lock-Token': token } };
      expect((await other.ask(1, 'UNLOCK', 'x', unlock)).status).toBe(409);
      const refresh = { headers: { If: `(${token})` } };
      expect((await other.ask(1, 'LOCK', 'x', refresh)).status).toBe(412);
      for (const list of [
        `(${token})`,
        `</dav/x> (${token})`,
        `<${servers.pair.resource}/dav/> (${token})`,
      ]) {
        expect((await put(other, 'x', 'other', { If: list })).status).toBe(412);
      }
      expect((await put(other, 'x', 'other', { If: `(Not ${token})` })).status).toBe(204);
      expect((await other.ask(0, 'LOCK', 'x', { headers: XML, body: LOCKINFO })).status).toBe(200);
      const { locks } = await stateOf(servers, other.tree);
      await other.ask(0, 'UNLOCK', 'x', { headers: { 'Lock-Token': `<${locks[0]?.token}>` } });
    }
    const still = await alice.ask(1, 'UNLOCK', '', { headers: { 'Lock-Token': token } });
    expect(still.status).toBe(204);
  });

  test('in a shared tree only the account that made a lock can use it (RFC 4918 section 6.4)', async () => {
    const shared = (who: Tenant, method: string, question = {}) =>
      who.ask(0, method, '/shared/x', question);
    expect((await shared(alice, 'PUT', { body: 'content' })).status).toBeLessThan(300);
    const granted = await shared(alice, 'LOCK', { headers: XML, body: LOCKINFO });
    const token = granted.headers.get('Lock-Token') ?? '';
    for (const headers of [{}, { If: `(${token})` }, { If: `(${token}) (Not <DAV:no-lock>)` }]) {
      expect((await shared(bob, 'PUT', { headers, body: 'other' })).status).toBe(423);
      expect((await shared(bob, 'DELETE', { headers })).status).toBe(423);
      const moved = { ...headers, Destination: '/shared/y' };
      expect((await shared(bob, 'MOVE', { headers: moved })).status).toBe(423);
    }
    expect((await shared(bob, 'UNLOCK', { headers: { 'Lock-Token': token } })).status).toBe(403);
    expect((await shared(bob, 'LOCK', { headers: { If: `(${token})` } })).status).toBe(403);
    const found = await shared(bob, 'PROPFIND', { headers: { Depth: '0' } });
    expect(found.text).toContain('activelock');
    expect(found.text).not.toMatch(/urn:uuid|the owner/);
    expect((await shared(alice, 'UNLOCK', { headers: { 'Lock-Token': token } })).status).toBe(204);
  });

  test('stored queries: another account gets 404 (RFC 10008 section 2.4)', async () => {
    const jsonpath = { headers: { 'Content-Type': 'application/jsonpath' }, body: '$.secret' };
    const json = { 'Content-Type': 'application/json' };
    for (const space of ['/dav/x', '/shared/q']) {
      const mine = space === '/shared/q' ? [alice, bob] : all();
      for (const who of mine) await put(who, space, '{"secret":1}', json);
      const asked = await alice.ask(0, 'QUERY', space, jsonpath);
      const kept = ['Location', 'Content-Location'].map((name) => asked.headers.get(name) ?? '');
      for (const url of kept) {
        expect(url).toMatch(/\?(equivalent|result)=/);
        expect(await get(alice, url)).toBe('[1]');
        for (const other of mine.slice(1)) expect(await get(other, url)).toBe(404);
        expect(await get(alice, url.replace(space, `${space}y`))).toBe(404);
      }
      const elsewhere = space === '/dav/x' ? '/traced/x' : '/dav/q';
      await put(alice, elsewhere, '{"secret":1}', json);
      for (const url of kept) expect(await get(alice, url.replace(space, elsewhere))).toBe(404);
      for (let n = 0; n < 34; n += 1) await bob.ask(n, 'QUERY', space, jsonpath);
      expect(await get(alice, kept[0] ?? '')).toBe('[1]');
    }
  });

  test('a person who uses up the quota takes no space from another account (RFC 4331)', async () => {
    const half = 'x'.repeat(QUOTA.bytes / 2);
    expect([(await put(alice, 'a', half)).status, (await put(alice, 'b', half)).status]).toEqual([
      201, 201,
    ]);
    expect((await put(alice, 'c', 'x')).status).toBe(507);
    for (const other of [bob, app]) {
      const used = await other.ask(1, 'PROPFIND', '', {
        headers: { ...XML, Depth: '0' },
        body: USED,
      });
      expect(used.text).toMatch(/quota-used-bytes>0</);
      expect((await put(other, 'c', 'x')).status).toBe(201);
    }
  });

  test.each([
    ['the name of the tree', (to: Tenant) => `${to.tree}/x`, [400, 404]],
    [
      'the name of the tree as a segment',
      (to: Tenant) => `/dav/${encodeURIComponent(to.tree.slice(1))}/x`,
      [409],
    ],
    ['the name of the tree, encoded', (to: Tenant) => `/dav%3F${to.tree.slice(5)}/x`, [403]],
    ['up and down again', (to: Tenant) => `/dav/%2e%2e/dav%3F${to.tree.slice(5)}/x`, [400]],
    ['userinfo', () => 'http://bob@127.0.0.1/dav/x', [400]],
  ])("no Destination leads into another account's tree: %s", async (_, destination, statuses) => {
    await put(alice, 'x', 'of alice');
    for (const method of ['COPY', 'MOVE']) {
      const headers = { Destination: destination(bob) };
      expect(statuses).toContain((await alice.ask(0, method, 'x', { headers })).status);
    }
    expect(await entriesOf(servers, bob.tree)).toEqual([]);
    expect(await get(alice, 'x')).toBe('of alice');
  });

  test('the periodic cleanup removes no document that is in use', async () => {
    for (const who of all()) await put(who, 'x', 'content');
    expect(await sweep(servers)).toBe(0);
    for (const who of all()) {
      expect(await get(who, 'x')).toBe('content');
      await assertSound(servers, who.tree);
    }
  });

  test("no shared cache may reuse one account's answer for another (RFC 9111 section 3.5, RFC 9110 section 12.5.5)", async () => {
    const { headers: made } = await put(alice, 'x', 'content');
    const etag = made.get('ETag') ?? '';
    const replies = [
      await alice.ask(0, 'GET', 'x'),
      await alice.ask(0, 'HEAD', 'x'),
      await alice.ask(0, 'GET', 'x', { headers: { 'If-None-Match': etag } }),
      await alice.ask(0, 'GET', 'x', { headers: { Range: 'bytes=0-1' } }),
      await alice.ask(0, 'GET', ''),
      await alice.ask(0, 'GET', 'nothing'),
      await app.ask(0, 'GET', 'x'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 304, 206, 200, 404, 404]);
    for (const { status, headers } of replies) {
      const varies = headers.get('Vary')?.toLowerCase().split(/, */) ?? [];
      expect(varies).toEqual(expect.arrayContaining(['authorization', 'x-api-key']));
      if (status < 400) expect(headers.get('Cache-Control')).toMatch(/^private\b/);
      expect(headers.get('Cache-Control') ?? '').not.toMatch(/public|s-maxage/);
    }
    const asked = await fetch(`${servers.pair.resource}/dav/x`);
    expect([asked.status, asked.headers.get('Cache-Control') ?? '']).toEqual([
      401,
      expect.not.stringMatching(/public/),
    ]);
    await asked.arrayBuffer();
  });

  describe('names of documents', () => {
    test.each([
      ['upper and lower case', ['a', 'A']],
      ['white space at the ends', ['a', 'a ', ' a', 'a.']],
      ['letters that look alike', ['a', 'а', 'ａ', 'ɑ']],
      ['ligatures and their letters', ['file', 'ﬁle']],
      ['characters that look like dots', ['․․', '．．', '...', '‥']],
      ['characters that look like slashes', ['a∕b', 'a⁄b', 'a／b', 'a⧵b']],
      ['invisible characters', ['a', 'a\u200b', 'a\u2060', '\ufeffa', 'a\u202e']],
      ['names of JavaScript members', ['__proto__', 'constructor', 'toString', 'hasOwnProperty']],
      [
        'characters of SQL and patterns',
        ["a'b", 'a%', 'a_', '%', '*', '[a]', 'a"b', 'a;--', '?', '#'],
      ],
      ['names that Windows reserves', ['con', 'nul.txt', 'a:b', 'a::$DATA', 'a|b', 'a<b>']],
      ['names with the same beginning', ['a', 'a0', 'a-', 'a.b', 'a b', 'a~', 'a😀']],
    ])('%s: each name has its own document', async (_, names) => {
      for (const name of names) {
        expect((await put(bob, encodeURIComponent(name), escape(name))).status).toBe(201);
      }
      for (const name of names) expect(await get(bob, encodeURIComponent(name))).toBe(escape(name));
      const found = (await entriesOf(servers, bob.tree)).map(({ path }) => path);
      expect(new Set(found)).toEqual(new Set(names));
      const [first = '', ...others] = names;
      await bob.ask(0, 'DELETE', encodeURIComponent(first));
      for (const name of others)
        expect(await get(bob, encodeURIComponent(name))).toBe(escape(name));
    });

    test.each([
      ['composed and decomposed', ['\u00e9', 'e\u0301']],
      ['combining marks in another order', ['q\u0307\u0323', 'q\u0323\u0307']],
      ['Hangul', ['\ud55c', '\u1112\u1161\u11ab']],
      ['symbols that are equal to letters', ['\u212b', '\u00c5', 'A\u030a']],
    ])(
      'several spellings of one name are one resource (RFC 5198 section 3): %s',
      async (_, names) => {
        const [first = ''] = names;
        expect((await put(bob, encodeURIComponent(first), 'content')).status).toBe(201);
        const lock = await bob.ask(0, 'LOCK', encodeURIComponent(first), {
          headers: XML,
          body: LOCKINFO,
        });
        for (const name of names) {
          const path = encodeURIComponent(name);
          expect(await get(bob, path)).toBe('content');
          expect((await put(bob, path, 'other', { 'If-None-Match': '*' })).status).toBe(412);
          expect((await put(bob, path, 'other')).status).toBe(423);
          const headers = { Destination: `/dav/${path}` };
          expect((await bob.ask(0, 'COPY', encodeURIComponent(first), { headers })).status).toBe(
            403,
          );
        }
        const token = lock.headers.get('Lock-Token') ?? '';
        const end = { headers: { 'Lock-Token': token } };
        expect(
          (await bob.ask(1, 'UNLOCK', encodeURIComponent(names.at(-1) ?? ''), end)).status,
        ).toBe(204);
      },
    );

    test("another spelling of a space's path is the same space, or refused", async () => {
      await put(alice, 'x', 'content');
      expect(await get(alice, '/d%61v/x')).toBe('content');
      for (const path of ['/DAV/x', '/dav%20/x', '/dav./x', '/dav;/x', '/dａv/x']) {
        expect(await get(alice, encodeURI(path).replaceAll('%25', '%'))).toBe(404);
      }
      for (const path of ['//dav/x', '/./dav/x', '/dav/.%2e/dav/x']) {
        const { hostname, port } = new URL(servers.pair.resource);
        expect(await rawStatus(`http://${hostname}:${port}`, path, alice)).toBe(400);
      }
    });
  });

  test('both servers still run, and no logged error is a defect', () => assertAlive(servers));
});

/** Sends a path unchanged, which fetch would normalise. */
async function rawStatus(origin: string, path: string, who: Tenant): Promise<number> {
  const head = [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    who.credentials.join(': '),
  ];
  return statusOf(await rawHttp(origin, `${head.join('\r\n')}\r\n\r\n`));
}
