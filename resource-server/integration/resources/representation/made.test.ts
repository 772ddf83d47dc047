import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newApiKey } from '#shared/people/api-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { membersIn } from '#shared/stores/contract/samples.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { clientsOf, LOCK_INFO } from '../webdav/locking.fixture.ts';
import type { Place } from '../../../resources/place/place.ts';
import { resultOf } from '../../../resources/query/result.ts';
import { MadeMemory, madeOf } from '../../../resources/place/made.ts';

const JSONPATH = { 'Content-Type': 'application/jsonpath' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const PROPPATCH =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="x:">y</x></D:prop></D:set></D:propertyupdate>';

/** The number of times that the members of a collection were read. */
let listings = 0;
/** Wraps the reading of a collection's members. */
let amidMembers = <T>(read: () => Promise<T>) => read();
const counted = (stores: Stores): Stores => ({
  ...stores,
  trees: {
    ...stores.trees,
    list(...args) {
      listings += 1;
      return stores.trees.list(...args);
    },
    members(...args) {
      listings += 1;
      return amidMembers(() => stores.trees.members(...args));
    },
  },
});

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({}, counted);
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
/** The path of a test's collection, which has one document. */
let path = '';
beforeEach(async () => {
  path = `/documents/made-${++made}/`;
  expect((await rs.as('MKCOL', path)).status).toBe(201);
  await put('a', '{"n":1}');
});

const put = (name: string, body: string) => rs.as('PUT', path + name, { body, headers: JSON_TYPE });
const get = (headers: OutgoingHttpHeaders = {}, query = '') =>
  rs.as('GET', path + query, { headers });
const query = (body: string, headers: OutgoingHttpHeaders = {}, at = path) =>
  rs.as('QUERY', at, { body, headers: { ...JSONPATH, ...headers } });
const propfind = (depth: string, body = '', headers: OutgoingHttpHeaders = {}) =>
  rs.as('PROPFIND', path, { headers: { Depth: depth, ...headers }, body });
const asking = (content: string) => `<D:propfind xmlns:D="DAV:">${content}</D:propfind>`;
async function listingsIn(work: () => Promise<unknown>): Promise<number> {
  const before = listings;
  await work();
  return listings - before;
}

describe('the representation of an unchanged resource', () => {
  test('the listing and query results of an unchanged resource are computed once in each form', async () => {
    const forms = [
      () => get(),
      () => get({ Accept: 'text/html' }),
      () => get({}, '?after=0'),
      () => query('$[*].name'),
      () => query('$[*].name', { Accept: 'application/jsonl' }),
      () => query('$[*].length'),
      () => query('select=name', { 'Content-Type': 'application/x-www-form-urlencoded' }),
    ];
    const first: Reply[] = [];
    expect(
      await listingsIn(async () => {
        for (const form of forms) first.push(await form());
      }),
    ).toBe(forms.length);
    expect(new Set(first.map(({ text }) => text)).size).toBe(forms.length - 1); // the page with `after` has the same members
    for (const [n, form] of forms.entries()) {
      expect(
        await listingsIn(async () => {
          const { status, text, headers } = await form();
          const { etag, 'content-type': type } = first[n]?.headers ?? {};
          expect({ status, text }).toEqual({ status: 200, text: first[n]?.text });
          expect(headers).toMatchObject({ etag, 'content-type': type });
        }),
      ).toBe(0);
    }
  });

  test('a cached listing also serves HEAD, conditions and ranges', async () => {
    const { headers, text } = await get();
    expect(
      await listingsIn(async () => {
        const head = await rs.as('HEAD', path);
        expect(head.headers).toMatchObject({
          etag: headers.etag,
          'content-length': `${text.length}`,
        });
        expect((await get({ 'If-None-Match': headers.etag })).status).toBe(304);
        expect(await get({ Range: 'bytes=1-9' })).toMatchObject({
          status: 206,
          text: text.slice(1, 10),
        });
      }),
    ).toBe(0);
  });

  test('RFC 10008 section 2.4: a cached result also serves the address that repeats the query', async () => {
    const { headers, text } = await query('$[*].name');
    expect(
      await listingsIn(async () => {
        expect((await rs.as('GET', headers.location ?? '')).text).toBe(text);
      }),
    ).toBe(0);
  });
});

describe('RFC 4918 section 9.1: the answer to PROPFIND about an unchanged collection', () => {
  const forms = [
    () => propfind('1'),
    () => propfind('infinity'),
    () => propfind('1', asking('<D:propname/>')),
    () => propfind('1', asking('<D:prop><D:getetag/></D:prop>')),
    () => propfind('1', asking('<D:prop><getetag xmlns="x:"/></D:prop>')),
    () => propfind('1', asking('<D:allprop/><D:include><D:quota-used-bytes/></D:include>')),
  ];

  test('the answer to PROPFIND is computed once for each question and depth', async () => {
    await rs.as('MKCOL', `${path}c`);
    await rs.as('PUT', `${path}c/d`, { body: 'd' });
    const first: string[] = [];
    for (const form of forms) first.push((await form()).text);
    expect(new Set(first).size).toBe(forms.length);
    for (const [n, form] of forms.entries()) {
      expect(
        await listingsIn(async () => {
          const { status, text, headers } = await form();
          expect({ status, text }).toEqual({ status: 207, text: first[n] });
          expect(headers['content-type']).toBe('application/xml; charset="utf-8"');
        }),
      ).toBe(0);
    }
    const alike = asking('<prop xmlns="DAV:"> <getetag></getetag></prop>');
    expect(await listingsIn(() => propfind('1', alike))).toBe(0);
  });

  test('PROPFIND is computed again if the tree has a lock, whose token only its owner sees', async () => {
    const { alice, bob } = clientsOf(rs);
    const at = path.slice('/documents/'.length);
    const list = (who: typeof alice) => who('PROPFIND', at, { Depth: '1' });
    expect((await list(bob)).text).toBe((await list(alice)).text);
    const locked = await alice('LOCK', `${at}a`, {}, LOCK_INFO());
    const token = /<(.*)>/.exec(String(locked.headers['lock-token']))?.[1] ?? 'none';
    for (let round = 0; round < 2; round += 1) {
      expect((await list(alice)).text).toContain(token);
      const { text } = await list(bob);
      expect([text.includes('<D:activelock>'), text.includes(token)]).toEqual([true, false]);
    }
    await alice('UNLOCK', `${at}a`, { 'Lock-Token': `<${token}>` });
    expect((await list(bob)).text).not.toContain('activelock');
  });

  test('PROPFIND with a condition in If is computed from the state that was checked', async () => {
    await propfind('1');
    const met = { If: '(Not <DAV:no-lock>)' };
    expect(await listingsIn(() => propfind('1', '', met))).toBe(1);
    expect((await propfind('1', '', { If: '(["none"])' })).status).toBe(412);
  });

  test('the answer to PROPFIND is not cached if the tree changed while it was computed', async () => {
    let wrote = false;
    amidMembers = async (read) => {
      const found = await read();
      if (!wrote) {
        wrote = true;
        await put('b', '{}');
      }
      return found;
    };
    const amid = await propfind('1').finally(() => (amidMembers = (read) => read()));
    expect([wrote, amid.text.includes(`${path}b`)]).toEqual([true, false]);
    expect((await propfind('1')).text).toContain(`${path}b`);
  });
});

describe('every change is seen by the next request', () => {
  const lock = (at: string, headers = {}): [string, string, Call] => [
    'LOCK',
    at,
    { headers: { 'Content-Type': 'application/xml', ...headers }, body: LOCK_INFO() },
  ];
  const to = (name: string) => ({ headers: { Destination: path + name } });
  const CHANGES: Readonly<Record<string, () => readonly [string, string, Call?]>> = {
    'PUT of a new document': () => ['PUT', `${path}b`, { body: 'b' }],
    'PUT of one that is there': () => ['PUT', `${path}a`, { body: '{"n":2}', headers: JSON_TYPE }],
    PATCH: () => [
      'PATCH',
      `${path}a`,
      { body: '{"n":3}', headers: { 'Content-Type': 'application/merge-patch+json' } },
    ],
    POST: () => ['POST', path, { body: 'b' }],
    DELETE: () => ['DELETE', `${path}a`],
    MKCOL: () => ['MKCOL', `${path}c`],
    COPY: () => ['COPY', `${path}a`, to('b')],
    MOVE: () => ['MOVE', `${path}a`, to('b')],
    'LOCK of what is missing': () => lock(`${path}l`),
  };

  test.each(Object.entries(CHANGES))(
    'the next request sees the change by %s',
    async (_, change) => {
      const forms = [() => get(), () => get({ Accept: 'text/html' }), () => query('$')];
      const before = await Promise.all(forms.map((form) => form()));
      const found = await propfind('1');
      rs.clock.advance(61);
      expect([200, 201, 204]).toContain((await rs.as(...change())).status);
      for (const [n, form] of forms.entries()) {
        const after = await form();
        expect(after.status).toBe(200);
        expect(after.text).not.toBe(before[n]?.text);
        expect(after.headers.etag).not.toBe(before[n]?.headers.etag);
      }
      expect((await propfind('1')).text).not.toBe(found.text);
      const listed = JSON.parse((await get()).text) as { members: { name: string }[] };
      const entries = await membersIn(rs.stores, '/documents', path.slice(11, -1));
      expect(listed.members.map(({ name }) => name.replace('/', ''))).toEqual(
        entries.map((entry) => entry.path.split('/').at(-1)),
      );
    },
  );

  test('PROPPATCH, LOCK and UNLOCK do not change the listing, which is computed again with the same entity tag', async () => {
    const { headers } = await get();
    await propfind('1');
    const xml = { 'Content-Type': 'application/xml' };
    const patched = await rs.as('PROPPATCH', `${path}a`, { headers: xml, body: PROPPATCH });
    expect(patched.status).toBe(207);
    expect((await propfind('1')).text).toMatch(/<x [^>]*xmlns="x:"[^>]*>y</);
    expect(
      await listingsIn(async () => expect((await get()).headers.etag).toBe(headers.etag)),
    ).toBe(1);
    const locked = await rs.as(...lock(`${path}a`));
    expect(locked.status).toBe(200);
    expect((await get()).headers.etag).toBe(headers.etag);
    const token = String(locked.headers['lock-token']);
    expect((await rs.as('UNLOCK', `${path}a`, { headers: { 'Lock-Token': token } })).status).toBe(
      204,
    );
    expect((await get()).headers.etag).toBe(headers.etag);
  });

  test('the next request sees a change that another process committed', async () => {
    const { text } = await get();
    const row = (await rs.stores.trees.get('/documents', `${path.slice(11)}a`)) as Document;
    const { locksVersion } = await rs.stores.trees.look('/documents', []);
    await rs.stores.trees.commit('/documents', {
      seen: new Map(),
      locksVersion,
      edits: [{ kind: 'put', entry: { ...row, revision: 'another', etag: 'another' } }],
      quota: rs.config.documents.quota,
    });
    expect((await get()).text).not.toBe(text);
    expect((await get()).text).toContain('another');
  });

  test('the next query of a document sees its change', async () => {
    const at = `${path}a`;
    expect((await query('$.n', {}, at)).text).toBe('[1]');
    await put('b', '{"n":4}');
    expect((await query('$.n', {}, at)).text).toBe('[1]');
    await put('a', '{"n":2}');
    expect((await query('$.n', {}, at)).text).toBe('[2]');
    await rs.as('MOVE', `${path}b`, { headers: { Destination: at } });
    expect((await query('$.n', {}, at)).text).toBe('[4]');
    expect((await query('$.n', {}, `${path}b`)).status).toBe(404);
  });
});

describe('whose it is', () => {
  test('equal requests to different trees never share an answer', async () => {
    const keys = await Promise.all(
      ['one', 'other'].map(async (application) => {
        const { id, key, secret_hash } = newApiKey(systemRandom);
        const record = { id, application, realm: 'dav', scopes: [], secret_hash, created_at: 0 };
        await rs.stores.apiKeys.add(record);
        return key;
      }),
    );
    const as = (key: string, method: string, at: string, { headers, body }: Call = {}) =>
      rs.ask(method, `/dav/${at}`, {
        headers: { 'X-API-Key': key, ...headers },
        ...(body !== undefined && { body }),
      });
    for (const [n, key] of keys.entries()) {
      expect((await as(key, 'PUT', 'a', { body: `{"n":"${n}"}`, headers: JSON_TYPE })).status).toBe(
        201,
      );
      expect((await as(key, 'PUT', `only-${n}`, { body: 'x' })).status).toBe(201);
    }
    for (const round of ['made', 'remembered']) {
      for (const [n, key] of keys.entries()) {
        const listed = await as(key, 'GET', '');
        expect([
          round,
          listed.text.includes(`only-${n}`),
          listed.text.includes(`only-${1 - n}`),
        ]).toEqual([round, true, false]);
        const names = await as(key, 'QUERY', '', { body: '$[*].name', headers: JSONPATH });
        expect(names.text).toBe(`["a","only-${n}"]`);
        expect((await as(key, 'QUERY', 'a', { body: '$.n', headers: JSONPATH })).text).toBe(
          `["${n}"]`,
        );
      }
    }
  });

  test('RFC 10008 section 2.3: a stored query belongs to its owner, even if its result is cached', async () => {
    const { alice, bob } = clientsOf(rs);
    const at = path.slice('/documents/'.length);
    const [mine, other] = [
      await alice('QUERY', at, JSONPATH, '$[*].name'),
      await bob('QUERY', at, JSONPATH, '$[*].name'),
    ];
    expect(other.text).toBe(mine.text);
    for (const field of ['location', 'content-location'] as const) {
      const kept = String(mine.headers[field]).slice('/documents/'.length);
      expect(kept).not.toBe(String(other.headers[field]).slice('/documents/'.length));
      expect((await alice('GET', kept)).text).toBe(mine.text);
      expect((await bob('GET', kept)).status).toBe(404);
    }
  });
});

test('without memory nothing is cached, and the answers are the same', async () => {
  await using bare = await startResourceServer({ documents: { memory: 0 } }, counted);
  await bare.as('PUT', '/documents/a', { body: '{"n":1}', headers: JSON_TYPE });
  const answers = new Set<string>();
  const asked = await listingsIn(async () => {
    for (let n = 0; n < 3; n += 1) answers.add((await bare.as('GET', '/documents/')).text);
  });
  expect([asked, answers.size]).toEqual([3, 1]);
});

describe('a query of a document', () => {
  let reads = 0;
  const entry: Document = {
    kind: 'document',
    path: 'a',
    revision: 'r',
    created: 1,
    modified: 2,
    properties: {},
    etag: 'e',
    type: 'application/json',
    length: 7,
    file: 'f',
  };
  const placeOf = (document: Document, tree = 'tree') =>
    ({
      tree,
      path: document.path,
      principal: 'somebody',
      entry: document,
      store: {
        version: () => Promise.reject(new Error('its content has a name')),
        content: async () => {
          reads += 1;
          return Buffer.from(`{"n":${reads}}`);
        },
      },
    }) as unknown as Place;
  const request = { headers: {}, method: 'QUERY' } as Parameters<typeof resultOf>[2];
  const jsonpath = { type: 'application/jsonpath', text: '$.n' };

  test("a query is evaluated once per content and tree, and its result has the document's date", async () => {
    const memory = { made: new MadeMemory(100_000) };
    const ask = (document = entry, tree = 'tree') =>
      resultOf(placeOf(document, tree), jsonpath, request, memory);
    const first = await ask();
    expect([String(first.content), first.modified]).toEqual(['[1]', 2]);
    const touched = await ask({ ...entry, modified: 3 });
    expect([String(touched.content), touched.modified]).toEqual(['[1]', 3]);
    expect(String((await ask({ ...entry, file: 'g' })).content)).toBe('[2]');
    expect(String((await ask(entry, 'another')).content)).toBe('[3]');
    expect(String((await ask({ ...entry, path: 'b' })).content)).toBe('[4]');
    expect(String((await ask()).content)).toBe('[1]');
  });

  test('a query that is refused is evaluated again', async () => {
    const memory = { made: new MadeMemory(100_000) };
    const wrong = { ...jsonpath, text: '$[' };
    const ask = () => resultOf(placeOf(entry), wrong, request, memory);
    const before = reads;
    await expect(ask()).rejects.toMatchObject({ status: 422 });
    await expect(ask()).rejects.toMatchObject({ status: 422 });
    expect(reads).toBe(before + 2);
  });
});

describe('the memory', () => {
  const some = madeOf({ type: 'text/plain', content: Buffer.from('some') });

  test('the memory caches nothing without a version', () => {
    const memory = new MadeMemory(100_000);
    memory.keep(['a'], undefined, some);
    expect(memory.find(['a'], undefined)).toBeUndefined();
  });

  test('parts of a name and the version cannot be confused in a key of the memory', () => {
    const memory = new MadeMemory(100_000);
    memory.keep(['a', 'b'], 'c', some);
    for (const [what, version] of [
      [['a'], 'c'],
      [['b', 'a'], 'c'],
      [['a","b'], 'c'],
      [['a', 'c'], 'b'],
    ] as const) {
      expect(memory.find(what, version)).toBeUndefined();
    }
    expect(memory.find(['a', 'b'], 'c')).toEqual(some);
  });

  test("the memory copies octets, since a query's result is part of a larger buffer", () => {
    const memory = new MadeMemory(100_000);
    const sent = Buffer.from('what was sent');
    memory.keep(['a'], 'v', madeOf({ type: 'text/plain', content: sent.subarray(0, 4) }));
    sent.fill(0);
    const kept = memory.find(['a'], 'v')?.content;
    expect(String(kept)).toBe('what');
    expect(kept?.buffer.byteLength).toBe(4);
  });
});
