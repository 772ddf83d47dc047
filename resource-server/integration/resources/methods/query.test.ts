import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

const JSONPATH = { 'Content-Type': 'application/jsonpath' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const ACCEPT_QUERY = '"application/jsonpath", "application/x-www-form-urlencoded"';

const PEOPLE = [
  { name: 'Smith', given: 'John', age: 40 },
  { name: 'Jones', given: 'Sally', age: 30 },
  { name: 'Dubois', given: 'Camille', age: 35 },
];

/** The number of stored queries, and whether their store fails. */
const keeping = { puts: 0, fails: false };

function watched(stores: Stores): Stores {
  return {
    ...stores,
    kept: {
      get: stores.kept.get,
      async put(...args) {
        if (keeping.fails) throw new StoreUnavailable('down');
        keeping.puts += 1;
        return stores.kept.put(...args);
      },
    },
  };
}

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({}, watched);
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
let path = '';
beforeEach(async () => {
  path = `/documents/people-${++made}.json`;
  await put(path, PEOPLE);
});

async function put(at: string, value: unknown, type = 'application/json'): Promise<void> {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  const { status } = await rs.as('PUT', at, { body, headers: { 'Content-Type': type } });
  expect([201, 204]).toContain(status);
}

const ask = (body: Call['body'], headers: object = {}, at = path) =>
  rs.as('QUERY', at, {
    ...(body !== undefined && { body }),
    headers: { ...JSONPATH, ...headers },
  });
const get = (at = '', headers: Record<string, string> = {}) => rs.as('GET', at, { headers });
const locationOf = ({ headers }: Reply) => headers.location ?? '';
const resultOf = ({ headers }: Reply) => headers['content-location'] ?? '';

describe('RFC 10008 section 2: QUERY', () => {
  test('a QUERY of a document by JSONPath (RFC 9535) gives a JSON array of values', async () => {
    const reply = await ask('$[?@.age > 30].name');
    expect(reply).toMatchObject({ status: 200, text: '["Smith","Dubois"]' });
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '18',
      'accept-query': ACCEPT_QUERY,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'last-modified': (await get(path)).headers['last-modified'],
    });
    expect(reply.headers.vary).toMatch(/\bAccept\b/);
    expect(reply.headers.etag).toMatch(/^"[\w-]{43}"$/);
  });

  test('a QUERY by a form filters the document', async () => {
    const reply = await ask('select=given&sort=-age&limit=2', FORM);
    expect(reply).toMatchObject({ status: 200, text: '[{"given":"John"},{"given":"Camille"}]' });
  });

  test('QUERY accepts documents of other JSON types (RFC 6839 section 3.1), and no other documents', async () => {
    await put(path, { a: 1 }, 'application/geo+json; x=1');
    expect(await ask('$.a')).toMatchObject({ status: 200, text: '[1]' });
    await put(path, '{"a":1}', 'text/plain');
    const refused = await ask('$.a');
    expect(refused.status).toBe(405);
    expect(refused.headers.allow).not.toContain('QUERY');
  });

  test('a QUERY of a collection sees the members of its listing, including collections', async () => {
    const at = `/documents/folder-${made}/`;
    expect((await rs.as('MKCOL', at)).status).toBe(201);
    expect((await rs.as('MKCOL', `${at}sub/`)).status).toBe(201);
    for (const name of ['b', 'a', 'ü']) await put(`${at}${encodeURIComponent(name)}`, name);
    const { members } = JSON.parse((await get(at, { Accept: 'application/json' })).text) as {
      members: { name: string }[];
    };
    const all = await ask('$', {}, at);
    expect(JSON.parse(all.text)).toEqual([members]);
    expect(all.headers['last-modified']).toBeUndefined();
    const selected = await ask('select=name&sort=-name&limit=2', FORM, at);
    expect(JSON.parse(selected.text)).toEqual([{ name: 'ü' }, { name: 'sub/' }]);
  });

  test('RFC 10008 section 2.5: QUERY of a collection without its slash gets 308, which keeps the method', async () => {
    const at = `/documents/slash-${made}`;
    await rs.as('MKCOL', `${at}/`);
    const reply = await ask('$', {}, at);
    expect(reply).toMatchObject({ status: 308, text: '' });
    expect(reply.headers.location).toBe(`https://rs.example${at}/`);
  });

  test('a QUERY of a missing resource is 404', async () => {
    expect((await ask('$', {}, '/documents/missing.json')).status).toBe(404);
    expect((await ask('$', {}, `${path}/`)).status).toBe(404);
  });

  test('RFC 9110 section 9.2.1: QUERY is safe, and needs only the read scope', async () => {
    const before = [await get(path), await get('/documents/', { Accept: 'application/json' })];
    const reader = { Authorization: `Bearer ${rs.token('documents:read')}` };
    for (const turn of [1, 2, 3]) {
      expect(await ask('$[0].age', turn === 1 ? reader : {})).toMatchObject({ text: '[40]' });
    }
    const after = [await get(path), await get('/documents/', { Accept: 'application/json' })];
    expect(after.map(({ text, headers }) => [text, headers.etag])).toEqual(
      before.map(({ text, headers }) => [text, headers.etag]),
    );
    const writer = { Authorization: `Bearer ${rs.token('documents:write')}` };
    expect((await ask('$', writer)).status).toBe(403);
  });

  test('RFC 4918 section 7: QUERY of a locked document needs no token', async () => {
    const body =
      '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
    const lock = await rs.as('LOCK', path, { body, headers: { 'Content-Type': 'text/xml' } });
    expect(lock.status).toBe(200);
    expect((await ask('$')).status).toBe(200);
    expect((await rs.as('DELETE', path)).status).toBe(423);
  });

  test('RFC 4918 section 10.4: If is evaluated for QUERY', async () => {
    const { etag } = (await get(path)).headers;
    expect((await ask('$', { If: `([${etag}])` })).status).toBe(200);
    expect((await ask('$', { If: '(["other"])' })).status).toBe(412);
    expect((await ask('$', { If: '<http://elsewhere.example/> (["other"])' })).status).toBe(412);
    expect((await ask('$', { If: 'nonsense' })).status).toBe(400);
  });
});

describe('RFC 10008 section 2.1: media types', () => {
  const withoutType = (body: string) => rs.as('QUERY', path, { body });

  test('QUERY without a media type is 400, for any content', async () => {
    expect((await withoutType('$')).status).toBe(400);
    expect((await withoutType('')).status).toBe(400);
  });

  test.each(['json', 'application/json;', 'a/b, c/d', 'application/jsonpath; charset'])(
    'QUERY with the malformed media type %s is refused',
    async (type) => {
      const { status } = await ask('$', { 'Content-Type': type });
      expect(status).toBe(type === 'application/json;' ? 415 : 400);
    },
  );

  test('QUERY with two media types is 400', async () => {
    const type = ['application/jsonpath', 'application/x-www-form-urlencoded'];
    expect((await ask('$', { 'Content-Type': type })).status).toBe(400);
  });

  test.each([
    'application/json',
    'application/sql',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonpath; charset=iso-8859-1',
    'application/jsonpath; charset="utf-8"; charset=latin1',
  ])('QUERY with the type %s is 415 with Accept-Query', async (type) => {
    const reply = await ask('$', { 'Content-Type': type });
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-query']).toBe(ACCEPT_QUERY);
    expect(reply.headers.accept).toBe('application/jsonpath, application/x-www-form-urlencoded');
  });

  test.each([
    'APPLICATION/JSONPATH',
    'application/jsonpath;charset=UTF-8',
    'application/jsonpath ; charset="utf-8"; x=y',
  ])('QUERY accepts the type %s', async (type) => {
    expect((await ask('$[0].age', { 'Content-Type': type })).text).toBe('[40]');
  });

  test('QUERY with content that does not match its type is 400', async () => {
    expect((await ask(Buffer.from([0x24, 0xff]))).status).toBe(400);
    expect((await ask('a=%zz', FORM)).status).toBe(400);
    expect((await ask(Buffer.from([0x61, 0x3d, 0xff]), FORM)).status).toBe(400);
  });

  test.each(['', 'name', '$[?', '$..[?count(@)]', '$[?nothing(@)]'])(
    'QUERY with an expression that cannot be processed is 422: %s',
    async (text) => {
      expect((await ask(text)).status).toBe(422);
    },
  );

  test('QUERY of a document whose type is JSON but whose content is not is 422', async () => {
    await put(path, '{not json');
    expect((await ask('$')).status).toBe(422);
  });

  test('RFC 9110 section 15.5.14: QUERY with content that is too long is 413, with or without Content-Length', async () => {
    const long = `$${' '.repeat(64 * 1024)}`;
    expect((await ask(long)).status).toBe(413);
    expect((await ask(long, { 'Transfer-Encoding': 'chunked' })).status).toBe(413);
    const longest = `$[?@.a=='${'x'.repeat(64 * 1024 - 11)}']`;
    expect(await ask(longest)).toMatchObject({ status: 200, text: '[]' });
  });

  test('RFC 9110 section 15.5.16: QUERY with a content coding is 415 with Accept-Encoding', async () => {
    const reply = await ask('$', { 'Content-Encoding': 'gzip' });
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-encoding']).toBe('identity');
  });

  test.each([
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/jsonl', 'application/jsonl'],
    ['application/json;q=0.5, application/jsonl', 'application/jsonl'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['application/json;q=0, */*', 'application/jsonl'],
  ])('QUERY with Accept: %s gives %s', async (accept, type) => {
    const reply = await ask('$[*].age', { Accept: accept });
    expect(reply).toMatchObject({
      status: 200,
      text: type === 'application/json' ? '[40,30,35]' : '40\n30\n35\n',
    });
    expect(reply.headers['content-type']).toBe(type);
  });

  test.each(['text/html', 'text/*', 'application/json;q=0', ''])(
    'QUERY with Accept: %s is 406',
    async (accept) => {
      const reply = await ask('$', { Accept: accept });
      expect(reply.status).toBe(406);
      expect(reply.headers.vary).toMatch(/\bAccept\b/);
    },
  );
});

describe('RFC 10008 section 2.4: Location is a resource that repeats the query', () => {
  test('GET of Location repeats the query on the present state, in the type that this GET accepts', async () => {
    const asked = await ask('$[*].name');
    expect(await get(locationOf(asked))).toMatchObject({ status: 200, text: asked.text });
    await put(path, PEOPLE.slice(1));
    const again = await get(locationOf(asked));
    expect(again).toMatchObject({ status: 200, text: '["Jones","Dubois"]' });
    expect(again.headers.etag).not.toBe(asked.headers.etag);
    const lines = await get(locationOf(asked), { Accept: 'application/jsonl' });
    expect(lines.text).toBe('"Jones"\n"Dubois"\n');
    expect((await get(locationOf(asked), { Accept: 'text/html' })).status).toBe(406);
  });

  test('RFC 10008 section 4: the URI in Location reveals nothing of the query', async () => {
    const asked = await ask('$[?@.name == "Smith"]');
    const pattern = new RegExp(`^${path.replace('.', '[.]')}\\?equivalent=[\\w-]{22}$`);
    expect(locationOf(asked)).toMatch(pattern);
    expect(locationOf(asked)).not.toBe(locationOf(await ask('$[?@.name == "Smith"]')));
    expect(rs.lines.join('')).not.toContain(locationOf(asked).split('=')[1]);
  });

  test('RFC 9110 section 9.3.2: HEAD of a stored query has the fields of GET', async () => {
    const asked = await ask('$[*].name');
    for (const at of [locationOf(asked), resultOf(asked)]) {
      const [head, read] = [await rs.as('HEAD', at), await get(at)];
      expect(head).toMatchObject({ status: 200, text: '' });
      const passing = { date: '', 'x-request-id': '' };
      expect({ ...head.headers, ...passing }).toEqual({ ...read.headers, ...passing });
    }
  });

  test('RFC 10008 section 2.3: Content-Location gives the result as it was', async () => {
    const asked = await ask('$[*].name', { Accept: 'application/jsonl' });
    await put(path, []);
    const kept = await get(resultOf(asked), { Accept: 'text/html' });
    expect(kept).toMatchObject({ status: 200, text: '"Smith"\n"Jones"\n"Dubois"\n' });
    expect(kept.headers).toMatchObject({
      etag: asked.headers.etag,
      'last-modified': asked.headers['last-modified'],
      'content-type': 'application/jsonl',
    });
  });

  test('a QUERY with a long result has no Content-Location', async () => {
    await put(path, ['x'.repeat(90_000)]);
    const asked = await ask('$[0,0,0]');
    expect(asked.status).toBe(200);
    expect(resultOf(asked)).toBe('');
    expect((await get(locationOf(asked))).text).toBe(asked.text);
    expect((await get(locationOf(asked).replace('equivalent', 'result'))).status).toBe(404);
  });

  test('a stored query is 404 for other principals, at other paths, and with other ids', async () => {
    const asked = await ask('$');
    const other = {
      Authorization: `Bearer ${rs.token('documents:read', { sub: 'x', client_id: 'x' })}`,
    };
    expect((await get(path, other)).status).toBe(200);
    const sibling = `/documents/sibling-${made}.json`;
    await put(sibling, PEOPLE);
    for (const at of [locationOf(asked), resultOf(asked)]) {
      expect((await get(at, other)).status).toBe(404);
      const [, component = ''] = at.split('?');
      expect((await get(`${sibling}?${component}`)).status).toBe(404);
      expect((await get(`/documents/?${component}`)).status).toBe(404);
      expect((await get(`${at}&x=1`)).status).toBe(404);
      expect((await get(`${at}%00`)).status).toBe(404);
      expect((await get(`${path}?${component.replace(/=.*/, '=')}`)).status).toBe(404);
      expect((await get(at)).status).toBe(200);
    }
    expect((await get(`${path}?equivalent=${'A'.repeat(22)}`)).status).toBe(404);
    expect((await rs.ask('GET', locationOf(asked))).status).toBe(401);
  });

  test('a stored query is 404 after its document is removed, and after ten minutes', async () => {
    const asked = await ask('$');
    const sibling = await ask('$', {}, '/documents/');
    await rs.as('DELETE', path);
    expect((await get(locationOf(asked))).status).toBe(404);
    expect((await get(resultOf(asked))).status).toBe(404);
    rs.clock.advance(599);
    const fresh = { Authorization: `Bearer ${rs.token('documents:read')}` };
    expect((await get(locationOf(sibling), fresh)).status).toBe(200);
    rs.clock.advance(2);
    const later = { Authorization: `Bearer ${rs.token('documents:read')}` };
    expect((await get(locationOf(sibling), later)).status).toBe(404);
    expect((await get(resultOf(sibling), later)).status).toBe(404);
    rs.clock.advance(-601);
  });

  test('the newest 32 stored queries of a principal stay', async () => {
    const first = await ask('$');
    const others = [];
    for (let turn = 0; turn < 31; turn += 1) others.push(await ask('$'));
    expect((await get(locationOf(first))).status).toBe(200);
    await ask('$');
    expect((await get(locationOf(first))).status).toBe(404);
    expect((await get(locationOf(others[0] ?? first))).status).toBe(200);
  });

  test('a stored query accepts only GET and HEAD, and other methods do not reach the document', async () => {
    const asked = await ask('$');
    for (const at of [locationOf(asked), resultOf(asked)]) {
      for (const method of ['PUT', 'PATCH', 'QUERY', 'PROPFIND', 'LOCK', 'MOVE', 'COPY']) {
        const reply = await rs.as(method, at, { body: '$', headers: JSONPATH });
        expect(reply.status).toBe(405);
        expect(reply.headers.allow).toBe('GET, HEAD, OPTIONS');
      }
      expect((await rs.as('DELETE', at)).status).toBe(405);
    }
    expect((await get(path)).text).toBe(JSON.stringify(PEOPLE));
  });

  test('another query component of the target does not affect the query', async () => {
    const asked = await ask('$[0].age', {}, `${path}?x=1&y`);
    expect(asked).toMatchObject({ status: 200, text: '[40]' });
    expect((await get(locationOf(asked))).text).toBe('[40]');
  });
});

describe('RFC 10008 section 2.6: conditions are about the result', () => {
  test('QUERY with a matching If-None-Match is 304 with the fields of 200, and keeps no query', async () => {
    const asked = await ask('$[*].name');
    const puts = keeping.puts;
    const { etag = '' } = asked.headers;
    for (const condition of [etag, `W/${etag}, "x"`, '*']) {
      const reply = await ask('$[*].name', { 'If-None-Match': condition });
      expect(reply).toMatchObject({ status: 304, text: '' });
      expect(reply.headers).toMatchObject({ etag, 'accept-query': ACCEPT_QUERY });
      expect(reply.headers.vary).toMatch(/\bAccept\b/);
      expect(reply.headers.location).toBeUndefined();
    }
    expect(keeping.puts).toBe(puts);
    expect((await ask('$[*].age', { 'If-None-Match': etag })).status).toBe(200);
    await put(path, PEOPLE.slice(1));
    expect((await ask('$[*].name', { 'If-None-Match': etag })).status).toBe(200);
  });

  test('a change of the document that the result does not show keeps the entity tag of the result', async () => {
    const { etag = '' } = (await ask('$[*].name')).headers;
    await put(
      path,
      PEOPLE.map(({ name }) => ({ name })),
    );
    expect((await ask('$[*].name', { 'If-None-Match': etag })).status).toBe(304);
  });

  test('the entity tag of the document does not match a result', async () => {
    const { etag = '' } = (await get(path)).headers;
    expect((await ask('$', { 'If-None-Match': etag })).status).toBe(200);
    expect((await ask('$', { 'If-Match': etag })).status).toBe(412);
  });

  test('QUERY with another tag in If-Match is 412, and keeps no query', async () => {
    const { etag = '' } = (await ask('$')).headers;
    const puts = keeping.puts;
    expect((await ask('$', { 'If-Match': '"x"' })).status).toBe(412);
    expect((await ask('$', { 'If-Match': `W/${etag}` })).status).toBe(412);
    expect(keeping.puts).toBe(puts);
    expect((await ask('$', { 'If-Match': etag })).status).toBe(200);
    expect((await ask('$', { 'If-Match': 'x' })).status).toBe(412);
  });

  test("dates in conditions of QUERY are compared with the document's date", async () => {
    const { 'last-modified': date = '' } = (await ask('$')).headers;
    const before = new Date(Date.parse(date) - 1000).toUTCString();
    expect((await ask('$', { 'If-Modified-Since': date })).status).toBe(304);
    expect((await ask('$', { 'If-Modified-Since': before })).status).toBe(200);
    expect((await ask('$', { 'If-Unmodified-Since': before })).status).toBe(412);
    expect((await ask('$', { 'If-Unmodified-Since': date })).status).toBe(200);
  });

  test('GET of the equivalent resource has the same validators as the QUERY', async () => {
    const asked = await ask('$');
    const { etag = '', 'last-modified': date = '' } = asked.headers;
    const at = locationOf(asked);
    expect((await get(at)).headers).toMatchObject({ etag, 'last-modified': date });
    expect((await get(at, { 'If-None-Match': etag })).status).toBe(304);
    expect((await get(at, { 'If-Modified-Since': date })).status).toBe(304);
    expect((await get(at, { 'If-Match': '"x"' })).status).toBe(412);
  });

  test('other refusals of QUERY come before preconditions (RFC 9110 section 13.2.1)', async () => {
    expect((await ask('$[', { 'If-None-Match': '*' })).status).toBe(422);
    expect((await ask('$', { 'Content-Type': 'a/b', 'If-Match': '"x"' })).status).toBe(415);
  });
});

describe('RFC 10008 section 2.8: ranges are those of GET', () => {
  test('QUERY supports one range and several ranges, and is 416 beyond the end', async () => {
    const part = await ask('$[*].age', { Range: 'bytes=1-2' });
    expect(part).toMatchObject({ status: 206, text: '40' });
    expect(part.headers['content-range']).toBe('bytes 1-2/10');
    const parts = await ask('$[*].age', { Range: 'bytes=0-0,-1' });
    expect(parts.status).toBe(206);
    expect(parts.headers['content-type']).toMatch(/^multipart\/byteranges; boundary=/);
    const none = await ask('$[*].age', { Range: 'bytes=10-' });
    expect(none.status).toBe(416);
    expect(none.headers['content-range']).toBe('bytes */10');
  });

  test('QUERY evaluates If-Range', async () => {
    const { etag = '' } = (await ask('$[*].age')).headers;
    const range = { Range: 'bytes=0-0' };
    expect((await ask('$[*].age', { ...range, 'If-Range': etag })).status).toBe(206);
    expect((await ask('$[*].age', { ...range, 'If-Range': '"x"' })).status).toBe(200);
  });

  test('a kept result supports the ranges of GET', async () => {
    const asked = await ask('$[*].age');
    for (const at of [locationOf(asked), resultOf(asked)]) {
      expect(await get(at, { Range: 'bytes=1-2' })).toMatchObject({ status: 206, text: '40' });
    }
  });
});

describe('the limits of a query', () => {
  const EVIL = `$[?match(@, '(a+)+b')]`;

  test('a QUERY with a regular expression that backtracks is 422, and other requests are answered meanwhile', async () => {
    await put(path, ['a'.repeat(60)]);
    const evil = ask(EVIL);
    expect((await get(path)).status).toBe(200);
    expect(await ask('$[0]')).toMatchObject({ status: 200 });
    const reply = await evil;
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('costs too much');
  });

  test('RFC 9110 section 15.6.4: an account that sends too many queries gets 503 with Retry-After, and no other account', async () => {
    await put(path, ['a'.repeat(60)]);
    const asked = Array.from({ length: 12 }, () => ask(EVIL));
    const other = rs.token('documents:read', { sub: 'other', client_id: 'other' });
    for (let turn = 0; turn < 4; turn += 1) {
      const reply = await ask('$[0]', { Authorization: `Bearer ${other}` });
      expect(reply.status).toBe(200);
    }
    const replies = await Promise.all(asked);
    const refused = replies.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(8);
    expect(refused[0]?.headers['retry-after']).toBe('1');
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(4);
    expect((await ask('$')).status).toBe(200);
  });

  test('a QUERY whose result is too long is 422', async () => {
    await put(path, ['x'.repeat(90_000)]);
    expect((await ask(`$[${'0,'.repeat(99)}0]`)).status).toBe(422);
  });

  test('if the store cannot keep the query, the answer is 503 without fields of a result', async () => {
    keeping.fails = true;
    try {
      const reply = await ask('$');
      expect(reply.status).toBe(503);
      expect(reply.headers).not.toHaveProperty('etag');
      expect(reply.headers).not.toHaveProperty('location');
    } finally {
      keeping.fails = false;
    }
  });
});

test('a QUERY with any content of any type is answered below 500', async () => {
  const type = fc.constantFrom(JSONPATH, FORM, { 'Content-Type': 'application/json' });
  const piece = fc.constantFrom('$', '..', '*', '[', ']', '?', '@', '(', ')', '%', '=', '&', '\0');
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
    fc.string({ unit: piece }).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(type, content, async (headers, body) => {
      const { status } = await ask(body, headers);
      expect([200, 400, 415, 422]).toContain(status);
    }),
    { numRuns: 200 },
  );
  expect((await ask('$')).status).toBe(200);
});
