import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { clientsOf } from '../webdav/locking.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `/documents/put-${++made}`;
const put = (path: string, body: string, headers = {}) => rs.as('PUT', path, { body, headers });
const get = (path: string) => rs.as('GET', path);
const etagOf = ({ headers }: Reply) => headers.etag ?? '';
const statusesOf = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);
const ten = Array.from({ length: 10 }, (_, index) => index);
const nine = (status: number) => Array.from({ length: 9 }, () => status);

/** Requests an exclusive lock and returns its token. */
async function lock(path: string): Promise<string> {
  const body =
    '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
    '<D:locktype><D:write/></D:locktype></D:lockinfo>';
  const headers = { 'Content-Type': 'application/xml', Depth: '0' };
  const { headers: fields } = await rs.as('LOCK', path, { headers, body });
  return String(fields['lock-token']);
}

test.each(['PUT', 'PATCH', 'LOCK'])(
  'a %s to a URL with a slash at its end is 404, and says how to create a document or a collection',
  async (method) => {
    const { status, text } = await rs.as(method, `${fresh()}/`, { body: 'x' });
    expect([status, JSON.parse(text).detail]).toEqual([
      404,
      `The URL of a document has no slash at its end. Send ${method} without it, or make a collection with MKCOL.`,
    ]);
  },
);

describe('RFC 9110 section 9.3.4: PUT', () => {
  test('PUT creates with 201 and Location, and replaces with 204', async () => {
    const path = fresh();
    const created = await put(path, 'one', { 'Content-Type': 'text/plain; charset=utf-8' });
    expect(created).toMatchObject({ status: 201, text: '' });
    expect(created.headers.location).toBe(`https://rs.example${path}`);
    expect(created.headers['content-type']).toBeUndefined();
    expect(created.headers.etag).toMatch(/^"[\w-]{22}"$/);
    expect(created.headers['last-modified']).toBe(new Date(rs.clock.now()).toUTCString());
    const read = await get(path);
    expect(read).toMatchObject({ status: 200, text: 'one' });
    expect(etagOf(read)).toBe(etagOf(created));
    expect(read.headers['content-type']).toBe('text/plain; charset=utf-8');

    const replaced = await put(path, 'two!');
    expect(replaced).toMatchObject({ status: 204, text: '' });
    expect(replaced.headers.location).toBeUndefined();
    expect(etagOf(replaced)).not.toBe(etagOf(created));
    const again = await get(path);
    expect(again).toMatchObject({ status: 200, text: 'two!' });
    expect(again.headers['content-type']).toBe('application/octet-stream');
  });

  test('section 9.2.2: PUT twice leaves the same state as once', async () => {
    const path = fresh();
    const state = async () => {
      const { text, headers } = await get(path);
      return { text, type: headers['content-type'], length: headers['content-length'] };
    };
    await put(path, 'x', { 'Content-Type': 'text/plain' });
    const once = await state();
    const contents = await rs.contents();
    await put(path, 'x', { 'Content-Type': 'text/plain' });
    expect(await state()).toEqual(once);
    expect(await rs.contents()).toHaveLength(contents.length);
  });

  test('PUT of the same content again gives a new entity tag', async () => {
    const path = fresh();
    const tags = [await put(path, 'x'), await put(path, 'x')].map(etagOf);
    expect(new Set(tags).size).toBe(2);
  });

  /** The store keeps the first two contents, and files the others. */
  const LENGTHS = [0, 16_384, 16_385, 100_000];
  test.each(LENGTHS)(
    'replacing %d bytes leaves one content, the new one, as a file only if over 16 KiB',
    async (before) => {
      for (const after of LENGTHS) {
        const path = fresh();
        const [contents, files] = [await rs.contents(), await rs.files()];
        await put(path, 'o'.repeat(before));
        const old = await rs.contents();
        expect(old).toHaveLength(contents.length + 1);
        const text = 'n'.repeat(after);
        const inChunks = before >= after && after > 0;
        const body = inChunks ? Readable.from([text.slice(1), 'n']) : text;
        expect((await rs.as('PUT', path, { body })).status).toBe(204);
        const now = await rs.contents();
        expect(now).toHaveLength(contents.length + 1);
        const name = now.find((one) => !old.includes(one)) ?? '';
        expect((await get(path)).text).toBe(text);
        const isFile = after > 16_384;
        expect(await rs.files()).toHaveLength(files.length + (isFile ? 1 : 0));
        if (isFile) expect(await readFile(join(rs.folder, name), 'utf8')).toBe(text);
        expect((await rs.as('DELETE', path)).status).toBe(204);
        expect(await rs.contents()).toEqual(contents);
        expect(await rs.files()).toEqual(files);
      }
    },
  );

  test('PUT accepts empty content, even without any field about it (Finder)', async () => {
    const path = fresh();
    expect((await put(path, '')).status).toBe(201);
    expect((await rs.as('PUT', path)).status).toBe(204);
    const read = await get(path);
    expect(read).toMatchObject({ status: 200, text: '' });
    expect(read.headers['content-length']).toBe('0');
  });

  test('a method override does not change PUT to another method', async () => {
    const path = fresh();
    await put(path, 'x', { 'X-HTTP-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE' });
    expect((await get(path)).text).toBe('x');
  });

  test('PUT with a malformed Content-Type is refused', async () => {
    for (const type of ['text', 'text/html; a', 'a/b, c/d', '']) {
      expect((await put(fresh(), 'x', { 'Content-Type': type })).status).toBe(400);
    }
    const twice = { 'Content-Type': ['text/plain', 'text/html'] };
    expect((await put(fresh(), 'x', twice)).status).toBe(400);
  });
});

describe('RFC 4918 section 9.7: in collections', () => {
  test('section 9.7.1: PUT without its collection is 409, and creates nothing', async () => {
    const path = fresh();
    const reply = await put(`${path}/a/b`, 'x');
    expect(reply.status).toBe(409);
    expect(reply.text).toContain('MKCOL');
    expect((await get(`${path}/a/`)).status).toBe(404);
    await rs.as('MKCOL', path);
    expect((await put(`${path}/a`, 'x')).status).toBe(201);
  });

  test('PUT below a document is 409', async () => {
    const path = fresh();
    await put(path, 'x');
    expect((await put(`${path}/b`, 'y')).status).toBe(409);
    expect((await get(path)).text).toBe('x');
  });

  test('section 9.7.2: PUT does not replace a collection: 405 with Allow', async () => {
    const path = fresh();
    await rs.as('MKCOL', path);
    await put(`${path}/member`, 'x');
    for (const target of [path, `${path}/`, '/documents/', '/documents']) {
      const reply = await put(target, 'y');
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toContain('PROPFIND');
      expect(reply.headers.allow).not.toContain('PUT');
    }
    expect((await get(`${path}/member`)).text).toBe('x');
  });

  test('section 9.7.1: PUT keeps the dead properties and the creation date', async () => {
    const path = fresh();
    await put(path, 'one');
    const body =
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:color xmlns:x="urn:x">blue</x:color>' +
      '</D:prop></D:set></D:propertyupdate>';
    await rs.as('PROPPATCH', path, { body, headers: { 'Content-Type': 'text/xml' } });
    const before = await rs.stores.trees.get('/documents', path.slice('/documents/'.length));
    rs.clock.advance(10);
    await put(path, 'two');
    const after = await rs.stores.trees.get('/documents', path.slice('/documents/'.length));
    expect(Object.keys(before?.properties ?? {})).toHaveLength(1);
    expect(after).toMatchObject({
      created: before?.created,
      properties: before?.properties,
      modified: rs.clock.now(),
    });
  });

  test('section 7.4: a lock on the collection forbids new members, but not replacing members', async () => {
    const path = fresh();
    await rs.as('MKCOL', path);
    await put(`${path}/old`, 'x');
    const token = await lock(path);
    expect((await put(`${path}/new`, 'x')).status).toBe(423);
    expect((await put(`${path}/old`, 'y')).status).toBe(204);
    expect((await put(`${path}/new`, 'x', { If: `<${path}/> (${token})` })).status).toBe(201);
  });

  test('section 7.5: PUT of a locked document needs its token, before any content is read', async () => {
    const path = fresh();
    await put(path, 'old');
    const token = await lock(path);
    const socket = new TestSocket(rs.listening);
    await socket.send(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${rs.token('documents:write')}\r\n` +
        'Expect: 100-continue\r\nContent-Length: 100\r\n\r\n',
    );
    const answer = await socket.all;
    expect(answer).toMatch(/^HTTP\/1.1 423 /);
    expect(answer).not.toContain('100 Continue');
    expect((await put(path, 'new', { If: `(${token})` })).status).toBe(204);
  });
});

describe('RFC 9110 section 13: conditions', () => {
  test('section 13.1.1: If-Match accepts only the current entity tag', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'one'));
    expect((await put(path, 'x', { 'If-Match': '"other"' })).status).toBe(412);
    expect((await put(path, 'x', { 'If-Match': `W/${tag}` })).status).toBe(412);
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

  test('section 13.1.4: If-Unmodified-Since refuses PUT after a change', async () => {
    const path = fresh();
    const modified = (await put(path, 'one')).headers['last-modified'];
    rs.clock.advance(10);
    expect((await put(path, 'two', { 'If-Unmodified-Since': modified })).status).toBe(204);
    expect((await put(path, 'three', { 'If-Unmodified-Since': modified })).status).toBe(412);
    expect((await put(path, 'three', { 'If-Unmodified-Since': 'yesterday' })).status).toBe(204);
  });

  test('section 13.2.1: a refusal of PUT for another reason comes before conditions', async () => {
    const headers = { 'If-Match': '"x"' };
    expect((await put(`${fresh()}/none`, 'x', headers)).status).toBe(409);
    expect((await put(fresh(), 'x', { ...headers, 'Content-Encoding': 'gzip' })).status).toBe(415);
  });

  test('a malformed entity tag in a condition matches nothing (RFC 9110 sections 13.1.1 and 13.1.2)', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'x', { 'If-None-Match': 'JoplinIgnore-1' }));
    expect((await put(path, 'y', { 'If-Match': `${tag}, unquoted` })).status).toBe(412);
    expect((await put(path, 'y', { 'If-None-Match': `unquoted, ${tag}` })).status).toBe(412);
    expect((await put(path, 'y', { 'If-None-Match': ['unquoted', '*'] })).status).toBe(412);
    expect((await put(path, 'y', { 'If-None-Match': '"a" "b"' })).status).toBe(204);
  });

  test('a failed condition of PUT is answered before the content is read', async () => {
    const path = fresh();
    await put(path, 'old');
    const socket = new TestSocket(rs.listening);
    await socket.send(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${rs.token('documents:write')}\r\n` +
        'If-None-Match: *\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n',
    );
    const answer = await socket.all;
    expect(answer).toMatch(/^HTTP\/1.1 412 /);
    expect(answer).not.toContain('100 Continue');
  });
});

describe('races', () => {
  test('one of ten PUTs with equal If-Match is done, nine are 412, and no content is left over', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'start'));
    const contents = (await rs.contents()).length;
    const replies = await Promise.all(ten.map((n) => put(path, `by ${n}`, { 'If-Match': tag })));
    expect(statusesOf(replies)).toEqual([204, ...nine(412)]);
    const winner = replies.findIndex(({ status }) => status === 204);
    const read = await get(path);
    expect(read.text).toBe(`by ${winner}`);
    expect(read.headers.etag).toBe(replies[winner]?.headers.etag);
    expect(await rs.contents()).toHaveLength(contents);
  });

  test('one of ten PUTs with If-None-Match: * creates the document', async () => {
    const path = fresh();
    const replies = await Promise.all(ten.map((n) => put(path, `${n}`, { 'If-None-Match': '*' })));
    expect(statusesOf(replies)).toEqual([201, ...nine(412)]);
  });

  test('ten PUTs without conditions are all done, one creates the document, and one content stays', async () => {
    const path = fresh();
    const contents = (await rs.contents()).length;
    const replies = await Promise.all(ten.map((n) => put(path, `${n}`)));
    expect(statusesOf(replies)).toEqual([201, ...nine(204)]);
    expect(await rs.contents()).toHaveLength(contents + 1);
  });

  /** Puts slowly. `meanwhile` runs after the first bytes have arrived. */
  async function slowly(path: string, meanwhile: () => Promise<unknown>, headers = {}) {
    async function* content() {
      yield 'slow ';
      await meanwhile();
      yield 'content';
    }
    return rs.as('PUT', path, {
      body: Readable.from(content(), { objectMode: false }),
      headers,
    });
  }

  test('a slow PUT whose document is replaced meanwhile has its condition checked again', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'start'));
    const contents = await rs.contents();
    const reply = await slowly(path, () => put(path, 'quick'), { 'If-Match': tag });
    expect(reply.status).toBe(412);
    expect((await get(path)).text).toBe('quick');
    expect(await rs.contents()).toHaveLength(contents.length);
    expect((await slowly(path, () => put(path, 'quicker'))).status).toBe(204);
    expect((await get(path)).text).toBe('slow content');
  });

  test('a slow PUT whose collection is removed meanwhile is 409, and leaves no content', async () => {
    const path = fresh();
    await rs.as('MKCOL', path);
    const contents = await rs.contents();
    const reply = await slowly(`${path}/a`, () => rs.as('DELETE', path));
    expect(reply.status).toBe(409);
    expect(await rs.contents()).toEqual(contents);
  });

  test('a slow PUT whose path becomes a collection meanwhile is 405', async () => {
    const path = fresh();
    const reply = await slowly(path, () => rs.as('MKCOL', path));
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toContain('POST');
    expect(reply.headers.allow).not.toContain('PUT');
  });

  test('a slow PUT whose path is locked meanwhile is 423', async () => {
    const path = fresh();
    await put(path, 'start');
    expect((await slowly(path, () => lock(path))).status).toBe(423);
    expect((await get(path)).text).toBe('start');
  });
});

test('RFC 9110 section 15.6.4: an account with four of the longest uploads gets 503, and other accounts can write to the tree', async () => {
  const longest = 64 * 1024 * 1024;
  const documents = { maxBytes: longest, quota: { bytes: 100 * longest, entries: 100 } };
  await using busy = await startResourceServer({ documents });
  const { alice, bob } = clientsOf(busy);
  const whole = { 'Content-Length': longest };
  const begun = [0, 1, 2, 3].map((n) => {
    const content = new PassThrough();
    content.write('x');
    return alice('PUT', `slow-${n}`, whole, content);
  });
  const ended = Promise.allSettled(begun);
  let own: Reply;
  do own = await alice('PUT', 'mine', {}, 'x');
  while (own.status !== 503);
  expect(own.headers['retry-after']).toBe('5');
  expect((await bob('PUT', 'theirs', {}, 'x')).status).toBe(201);
  expect((await alice('GET', 'theirs')).text).toBe('x');
  await busy.listening.close(0);
  await ended;
});
