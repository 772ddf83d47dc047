import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestSocket } from '#shared/server/test-socket.ts';
import { StoreUnavailable, type Stores } from '#shared/stores/stores.ts';
import { type Reply, startWorld, type World } from '../world.fixture.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

let made = 0;
const fresh = (name = 'doc') => `/documents/${name}-${++made}`;
const put = (path: string, body: string, headers = {}) => world.as('PUT', path, { body, headers });
const get = (path: string, headers = {}) => world.as('GET', path, { headers });
const etagOf = ({ headers }: Reply) => headers.etag ?? '';
const statusesOf = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);

describe('RFC 9110 section 9.3: methods of a document', () => {
  test('PUT creates with 201 and Location, replaces with 204; GET gives back content and type', async () => {
    const path = fresh();
    const created = await put(path, 'one', { 'Content-Type': 'text/plain; charset=utf-8' });
    expect(created).toMatchObject({ status: 201, text: '' });
    expect(created.headers.location).toBe(`https://rs.example${path}`);
    expect(created.headers['content-type']).toBeUndefined();
    expect(created.headers.etag).toMatch(/^"[\w-]{22}"$/);

    const read = await get(path);
    expect(read).toMatchObject({ status: 200, text: 'one' });
    expect(read.headers).toMatchObject({
      etag: etagOf(created),
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '3',
      'last-modified': created.headers['last-modified'],
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'private, no-cache',
    });

    const replaced = await put(path, 'two!');
    expect(replaced).toMatchObject({ status: 204, text: '' });
    expect(replaced.headers.location).toBeUndefined();
    expect(etagOf(replaced)).not.toBe(etagOf(created));
    const again = await get(path);
    expect(again).toMatchObject({ status: 200, text: 'two!' });
    expect(again.headers['content-type']).toBe('application/octet-stream');
  });

  test('the same content again is a new state with a new entity tag', async () => {
    const path = fresh();
    const tags = [await put(path, 'x'), await put(path, 'x')].map(etagOf);
    expect(new Set(tags).size).toBe(2);
  });

  test('HEAD has the fields of GET and no content', async () => {
    const path = fresh();
    await put(path, 'content', { 'Content-Type': 'text/html' });
    for (const target of [path, '/documents/', '/documents/missing']) {
      const [head, read] = [await world.as('HEAD', target), await get(target)];
      expect(head.text).toBe('');
      expect(head.status).toBe(read.status);
      expect({ ...head.headers, date: '' }).toEqual({ ...read.headers, date: '' });
    }
  });

  test('DELETE removes document and file; a second one is 404', async () => {
    const path = fresh();
    await put(path, 'x');
    const files = await world.files();
    expect(await world.as('DELETE', path)).toMatchObject({ status: 204, text: '' });
    expect(await world.files()).toHaveLength(files.length - 1);
    expect((await world.as('DELETE', path)).status).toBe(404);
    expect((await get(path)).status).toBe(404);
  });

  test('an empty document is one', async () => {
    const path = fresh();
    expect((await put(path, '')).status).toBe(201);
    const read = await get(path);
    expect(read).toMatchObject({ status: 200, text: '' });
    expect(read.headers['content-length']).toBe('0');
  });

  test('replacing leaves one file: the one that is served', async () => {
    const path = fresh();
    await put(path, 'old');
    const before = await world.files();
    await put(path, 'new');
    const after = await world.files();
    expect(after).toHaveLength(before.length);
    const file = after.find((name) => !before.includes(name)) ?? '';
    expect(await readFile(join(world.folder, file), 'utf8')).toBe('new');
  });

  test('a type that would split the answer is refused, as is any malformed one', async () => {
    for (const type of ['text', 'text/html; a', 'a/b, c/d']) {
      expect((await put(fresh(), 'x', { 'Content-Type': type })).status).toBe(400);
    }
    const twice = { 'Content-Type': ['text/plain', 'text/html'] };
    expect((await put(fresh(), 'x', twice)).status).toBe(400);
  });
});

describe('names', () => {
  test('any that a target can carry comes back, and none is a file name', async () => {
    for (const name of [
      'Gr%C3%BC%C3%9Fe%20%F0%9F%98%80',
      'a%3Fb%23c',
      '%22%3B',
      '__proto__',
      'C:',
      '~',
    ]) {
      const path = `/documents/names/${name}`;
      const created = await put(path, name);
      expect(created.status).toBe(201);
      expect((await get(path)).text).toBe(name);
      const location = new URL(created.headers.location ?? '');
      expect((await get(location.pathname)).text).toBe(name);
    }
    expect((await world.files()).every((file) => /^[\w-]{22}$/.test(file))).toBe(true);
  });

  test('two spellings of one path are one document', async () => {
    await put('/documents/sp%65lling', 'x');
    expect((await get('/documents/spelling')).text).toBe('x');
    expect((await get('/%64ocuments/spelling')).text).toBe('x');
  });

  test.each([
    '/documents/../secret',
    '/documents/%2e%2e/secret',
    '/documents/a%2Fb',
    '/documents/a%5Cb',
    '/documents/a%00b',
    '/documents//a',
    '/documents/%ff',
    '/documents/%zz',
  ])('%s is 400', async (path) => {
    expect((await put(path, 'x')).status).toBe(400);
    expect((await get(path)).status).toBe(400);
  });

  test('RFC 9110 section 15.5.15: a name over 255 bytes or a path over 1024 is 414', async () => {
    expect((await put(`/documents/${'n'.repeat(255)}`, 'x')).status).toBe(201);
    expect((await put(`/documents/${'n'.repeat(256)}`, 'x')).status).toBe(414);
    expect((await put(`/documents/${'%C3%BC'.repeat(128)}`, 'x')).status).toBe(414);
    expect((await put(`/documents/${'nnn/'.repeat(256)}nnn`, 'x')).status).toBe(414);
    expect((await get(`/documents/${'n'.repeat(256)}`)).status).toBe(414);
  });
});

describe('collections', () => {
  test('RFC 9110 section 9.3.3: POST makes a document with a new name: 201 and Location', async () => {
    const created = await world.as('POST', '/documents/inbox/', {
      body: 'mail',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(created).toMatchObject({ status: 201, text: '' });
    const { pathname } = new URL(created.headers.location ?? '');
    expect(pathname).toMatch(/^\/documents\/inbox\/[\w-]{22}$/);
    const read = await get(pathname);
    expect(read).toMatchObject({ status: 200, text: 'mail' });
    expect(read.headers.etag).toBe(created.headers.etag);
  });

  test('GET lists members directly below, and collections by name', async () => {
    await put('/documents/list/b', 'bb', { 'Content-Type': 'text/plain' });
    await put('/documents/list/a/deep/er', 'x');
    const listing = await get('/documents/list/');
    expect(listing.headers['content-type']).toBe('application/json');
    expect(JSON.parse(listing.text)).toEqual({
      members: [
        { name: 'a/' },
        {
          name: 'b',
          type: 'text/plain',
          length: 2,
          modified: new Date(world.clock.now()).toISOString(),
          etag: etagOf(await get('/documents/list/b')),
        },
      ],
    });
  });

  test('a listing has an entity tag that changes with it', async () => {
    await put('/documents/tagged/a', 'x');
    const tag = etagOf(await get('/documents/tagged/'));
    const unchanged = await get('/documents/tagged/', { 'If-None-Match': tag });
    expect(unchanged).toMatchObject({ status: 304, text: '' });
    const stale = { headers: { 'If-Match': '"other"' }, body: 'x' };
    expect((await world.as('POST', '/documents/tagged/', stale)).status).toBe(412);
    await put('/documents/tagged/a', 'y');
    expect((await get('/documents/tagged/', { 'If-None-Match': tag })).status).toBe(200);
  });

  test('one without documents is 404, but for that of the space', async () => {
    await using empty = await startWorld();
    expect((await empty.as('GET', '/documents/')).text).toBe('{"members":[]}');
    expect((await empty.as('GET', '/documents/none/')).status).toBe(404);
  });

  test('RFC 9110 section 15.4.9: without its slash the space is 308, with the query', async () => {
    const reply = await get('/documents?a=b');
    expect(reply.status).toBe(308);
    expect(reply.headers.location).toBe('https://rs.example/documents/?a=b');
  });

  test('405 with Allow for what they cannot do', async () => {
    const collection = await world.as('PUT', '/documents/', { body: 'x' });
    expect(collection.status).toBe(405);
    expect(collection.headers.allow).toBe('GET, HEAD, OPTIONS, POST');
    const document = await world.as('POST', fresh(), { body: 'x' });
    expect(document.status).toBe(405);
    expect(document.headers.allow).toBe('GET, HEAD, OPTIONS, PUT, DELETE');
  });
});

describe('RFC 9110 section 13: conditions', () => {
  test('section 13.1.1: If-Match lets through the current tag only', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'one'));
    expect((await put(path, 'x', { 'If-Match': '"other"' })).status).toBe(412);
    expect((await put(path, 'x', { 'If-Match': `W/${tag}` })).status).toBe(412);
    expect((await world.as('DELETE', path, { headers: { 'If-Match': '"other"' } })).status).toBe(
      412,
    );
    expect((await put(path, 'two', { 'If-Match': `"other", ${tag}` })).status).toBe(204);
    expect((await put(path, 'three', { 'If-Match': tag })).status).toBe(412);
    expect((await put(path, 'three', { 'If-Match': '*' })).status).toBe(204);
    expect((await get(path)).text).toBe('three');
    expect((await put(fresh(), 'x', { 'If-Match': '*' })).status).toBe(412);
  });

  test('section 13.1.2: If-None-Match: * creates and never replaces', async () => {
    const path = fresh();
    expect((await put(path, 'one', { 'If-None-Match': '*' })).status).toBe(201);
    expect((await put(path, 'two', { 'If-None-Match': '*' })).status).toBe(412);
    expect((await get(path)).text).toBe('one');
  });

  test('sections 13.1.2 and 13.1.3: a client that has it gets 304 with the validators', async () => {
    const path = fresh();
    const created = await put(path, 'one');
    const tag = etagOf(created);
    const modified = created.headers['last-modified'];
    for (const headers of [
      { 'If-None-Match': tag },
      { 'If-None-Match': `W/${tag}` },
      { 'If-Modified-Since': modified },
    ]) {
      const reply = await get(path, headers);
      expect(reply).toMatchObject({ status: 304, text: '' });
      expect(reply.headers).toMatchObject({ etag: tag, 'last-modified': modified });
      expect(reply.headers['content-type']).toBeUndefined();
      expect(reply.headers['content-length']).toBeUndefined();
    }
    expect(
      (await get(path, { 'If-None-Match': '"x"', 'If-Modified-Since': modified })).status,
    ).toBe(200);
  });

  test('section 13.1.4: If-Unmodified-Since', async () => {
    const path = fresh();
    const modified = (await put(path, 'one')).headers['last-modified'];
    world.clock.advance(10);
    expect((await put(path, 'two', { 'If-Unmodified-Since': modified })).status).toBe(204);
    expect((await put(path, 'three', { 'If-Unmodified-Since': modified })).status).toBe(412);
    expect((await put(path, 'three', { 'If-Unmodified-Since': 'yesterday' })).status).toBe(204);
  });

  test('section 13.2.1: conditions are ignored where the answer is 404 anyhow', async () => {
    const headers = { 'If-Match': '"x"' };
    expect((await get(fresh(), headers)).status).toBe(404);
    expect((await world.as('DELETE', fresh(), { headers })).status).toBe(404);
  });

  test('what is no list of entity tags is 400', async () => {
    expect((await put(fresh(), 'x', { 'If-Match': 'unquoted' })).status).toBe(400);
    expect((await put(fresh(), 'x', { 'If-None-Match': '"a" "b"' })).status).toBe(400);
  });
});

describe('races', () => {
  const ten = Array.from({ length: 10 }, (_, index) => index);

  test('ten PUTs with one If-Match: one is done, nine are 412, no file is left over', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'start'));
    const files = (await world.files()).length;
    const replies = await Promise.all(ten.map((n) => put(path, `by ${n}`, { 'If-Match': tag })));
    expect(statusesOf(replies)).toEqual([204, ...Array.from({ length: 9 }, () => 412)]);
    const winner = replies.findIndex(({ status }) => status === 204);
    const read = await get(path);
    expect(read.text).toBe(`by ${winner}`);
    expect(read.headers.etag).toBe(replies[winner]?.headers.etag);
    expect(await world.files()).toHaveLength(files);
  });

  test('ten PUTs with If-None-Match: *: one creates', async () => {
    const path = fresh();
    const replies = await Promise.all(ten.map((n) => put(path, `${n}`, { 'If-None-Match': '*' })));
    expect(statusesOf(replies)).toEqual([201, ...Array.from({ length: 9 }, () => 412)]);
  });

  test('ten PUTs without conditions: all are done, one creates, one file stays', async () => {
    const path = fresh();
    const files = (await world.files()).length;
    const replies = await Promise.all(ten.map((n) => put(path, `${n}`)));
    expect(statusesOf(replies)).toEqual([201, ...Array.from({ length: 9 }, () => 204)]);
    expect(await world.files()).toHaveLength(files + 1);
  });

  test('ten DELETEs: one is done, nine find nothing', async () => {
    const path = fresh();
    await put(path, 'x');
    const replies = await Promise.all(ten.map(() => world.as('DELETE', path)));
    expect(statusesOf(replies)).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  });

  test('readers during replacements see one whole state or another, never an error', async () => {
    const path = fresh();
    const whole = (n: number) => `${n}`.repeat(50_000);
    await put(path, whole(0));
    const writing = (async () => {
      for (const n of ten) await put(path, whole(n));
    })();
    const replies = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        for (let turn = 0; turn < index; turn += 1) await new Promise((next) => setImmediate(next));
        return get(path);
      }),
    );
    await writing;
    for (const reply of replies) {
      expect(reply.status).toBe(200);
      expect(reply.text).toBe(reply.text.slice(0, 1).repeat(50_000));
    }
  });

  test('a document replaced between its row and its file is read anew', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const hooked = (stores: Stores): Stores => ({
      ...stores,
      documents: {
        ...stores.documents,
        async get(space, path) {
          const row = await stores.documents.get(space, path);
          const act = meanwhile;
          meanwhile = undefined;
          await act?.();
          return row;
        },
      },
    });
    await using racing = await startWorld({}, hooked);
    await racing.as('PUT', '/documents/a', { body: 'old' });
    meanwhile = () => racing.as('PUT', '/documents/a', { body: 'new' });
    expect(await racing.as('GET', '/documents/a')).toMatchObject({ status: 200, text: 'new' });
    meanwhile = () => racing.as('DELETE', '/documents/a');
    expect((await racing.as('GET', '/documents/a')).status).toBe(404);
  });
});

describe('uploads', () => {
  test('RFC 9110 section 14.5: Content-Range in a PUT is 400', async () => {
    expect((await put(fresh(), 'x', { 'Content-Range': 'bytes 0-0/1' })).status).toBe(400);
  });

  test('RFC 9110 section 15.5.16: a content coding is 415 and says which is taken', async () => {
    const reply = await put(fresh(), 'x', { 'Content-Encoding': 'gzip' });
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-encoding']).toBe('identity');
  });

  test('RFC 9110 section 15.5.14: too long by its Content-Length is 413 before any is read', async () => {
    const socket = new TestSocket(world.listening);
    const token = world.token('documents:write');
    await socket.send(
      `PUT ${fresh()} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
        'Expect: 100-continue\r\nContent-Length: 100001\r\n\r\n',
    );
    const answer = await socket.all;
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).not.toContain('100 Continue');
  });

  test('as long as allowed is stored; longer without a Content-Length is 413 and leaves nothing', async () => {
    const path = fresh();
    const chunked = (bytes: number) => Readable.from([Buffer.alloc(bytes - 1), Buffer.alloc(1)]);
    expect((await world.as('PUT', path, { body: chunked(100_000) })).status).toBe(201);
    const files = await world.files();
    expect((await world.as('PUT', path, { body: chunked(100_001) })).status).toBe(413);
    expect((await world.as('PUT', path, { body: chunked(5_000_000) })).status).toBe(413);
    expect(await world.files()).toEqual(files);
    expect((await get(path)).headers['content-length']).toBe('100000');
  });

  test.each([
    ['by length', 'Content-Length: 10\r\n\r\nabc'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabc'],
  ])('cut off (%s) it leaves neither document nor file', async (_, rest) => {
    const path = fresh();
    const files = await world.files();
    const socket = new TestSocket(world.listening);
    const token = world.token('documents:write');
    await socket.send(
      `PUT ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${rest}`,
    );
    while ((await world.files()).length === files.length)
      await new Promise((next) => setImmediate(next));
    socket.socket.destroy();
    while ((await world.files()).length > files.length)
      await new Promise((next) => setImmediate(next));
    expect((await get(path)).status).toBe(404);
  });

  test('a store that does not answer is 503 with Retry-After, and the document stays as it was', async () => {
    let down = false;
    const failing = (stores: Stores): Stores => ({
      ...stores,
      documents: {
        ...stores.documents,
        async put(...args) {
          if (down) throw new StoreUnavailable('gone');
          return stores.documents.put(...args);
        },
      },
    });
    await using broken = await startWorld({}, failing);
    await broken.as('PUT', '/documents/a', { body: 'old' });
    down = true;
    const reply = await broken.as('PUT', '/documents/a', { body: 'new' });
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toBe('1');
    expect((await broken.as('GET', '/documents/a')).text).toBe('old');
  });

  test('an error that nobody expected is 500 without its message', async () => {
    const failing = (stores: Stores): Stores => ({
      ...stores,
      documents: { ...stores.documents, get: () => Promise.reject(new Error('inner secret')) },
    });
    await using broken = await startWorld({}, failing);
    const reply = await broken.as('GET', '/documents/a');
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('inner secret');
    expect(broken.lines.join('')).toContain('inner secret');
  });

  test('a row whose file is lost is 500, not an endless search', async () => {
    await using lossy = await startWorld();
    const row = { path: 'a', type: 'a/b', length: 1, modified: 0, etag: 'e', file: 'lost' };
    await lossy.stores.documents.put('/documents', row, 'any');
    expect((await lossy.as('GET', '/documents/a')).status).toBe(500);
  });
});

test('the sweep of a space keeps what its rows name and removes an old leftover', async () => {
  await using old = await startWorld();
  await old.as('PUT', '/documents/a', { body: 'kept' });
  const [named = ''] = await old.files();
  const row = await old.stores.documents.get('/documents', 'a');
  expect(row?.file).toBe(named);
  await old.as('PUT', '/documents/b', { body: 'orphan' });
  await old.stores.documents.remove('/documents', 'b', 'any');
  expect(await old.files()).toHaveLength(2);
  await old.server.chores.find(({ name }) => name === 'sweep.content')?.run();
  expect(await old.files()).toEqual([named]);
});
