import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
  await rs.as('MKCOL', '/documents/inbox');
});
afterAll(() => rs[Symbol.asyncDispose]());

const post = (path: string, body = 'mail', headers = {}) =>
  rs.as('POST', path, { body, headers: { 'Content-Type': 'text/plain', ...headers } });
const get = (path: string) => rs.as('GET', path);

describe('RFC 9110 section 9.3.3: POST to a collection', () => {
  test('POST creates a document with a new name: 201 and Location', async () => {
    for (const collection of ['/documents/inbox/', '/documents/inbox', '/documents/']) {
      const created = await post(collection);
      expect(created).toMatchObject({ status: 201, text: '' });
      const { pathname } = new URL(created.headers.location ?? '');
      expect(pathname.startsWith(collection)).toBe(true);
      expect(pathname).toMatch(/\/[\w-]{22}$/);
      const read = await get(pathname);
      expect(read).toMatchObject({ status: 200, text: 'mail' });
      expect(read.headers.etag).toBe(created.headers.etag);
      expect(read.headers['content-type']).toBe('text/plain');
    }
  });

  test('POST is not idempotent: each POST creates another document, also ten at once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => post('/documents/inbox/')));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    expect(new Set(replies.map(({ headers }) => headers.location)).size).toBe(10);
  });

  test('POST to a missing resource is 404, and to a document 405 with Allow', async () => {
    expect((await post('/documents/none/')).status).toBe(404);
    await rs.as('PUT', '/documents/doc', { body: 'x' });
    const reply = await post('/documents/doc');
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toContain('PUT');
    expect(reply.headers.allow).not.toContain('POST');
  });

  test('POST is refused as PUT is, with 400, 413 or 415, and leaves nothing', async () => {
    const contents = await rs.contents();
    const refused = [
      await post('/documents/inbox/', 'x', { 'Content-Range': 'bytes 0-0/1' }),
      await post('/documents/inbox/', 'x', { 'Content-Type': 'text' }),
      await post('/documents/inbox/', 'x'.repeat(100_001)),
      await post('/documents/inbox/', 'x', { 'Content-Encoding': 'br' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 413, 415]);
    expect(await rs.contents()).toEqual(contents);
  });

  test('POST to a collection whose path leaves no room for a name is 409 before the content is read', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `${index}`.repeat(250)); // 1003 bytes
    const paths = names.map((_, index) => `/documents/${names.slice(0, index + 1).join('/')}`);
    for (const path of paths) expect((await rs.as('MKCOL', path)).status).toBe(201);
    const contents = await rs.contents();
    const [deep = ''] = paths.slice(-1);
    async function* late() {
      yield 'a';
      await answered.promise;
    }
    const answered = Promise.withResolvers<void>();
    const content = Readable.from(late(), { objectMode: false });
    const reply = await rs.as('POST', `${deep}/`, { body: content });
    answered.resolve();
    expect(reply.status).toBe(409);
    expect(reply.text).toContain('1024 bytes');
    expect(await rs.contents()).toEqual(contents);
  });

  test('the longest path that POST creates can be read', async () => {
    const names = [
      ...Array.from({ length: 3 }, (_, index) => `l${index}`.repeat(125)),
      'm'.repeat(248),
    ];
    const paths = names.map((_, index) => `/documents/${names.slice(0, index + 1).join('/')}`);
    for (const path of paths) expect((await rs.as('MKCOL', path)).status).toBe(201);
    const [deep = ''] = paths.slice(-1);
    const { status, headers } = await post(`${deep}/`);
    expect(status).toBe(201);
    const { pathname } = new URL(headers.location ?? '');
    expect(pathname.length).toBe('/documents/'.length + 1024);
    expect((await get(pathname)).text).toBe('mail');
  });

  test('section 13.1.1: conditions of POST apply to the collection', async () => {
    const inbox = '/documents/inbox/';
    expect((await post(inbox, 'x', { 'If-Match': '"other"' })).status).toBe(412);
    expect((await post(inbox, 'x', { 'If-None-Match': '*' })).status).toBe(412);
    expect((await post(inbox, 'x', { 'If-Match': '*' })).status).toBe(201);
  });

  test('RFC 4918 section 7.4: POST to a locked collection needs the token of its lock', async () => {
    await rs.as('MKCOL', '/documents/locked');
    const body =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
      '<D:locktype><D:write/></D:locktype></D:lockinfo>';
    const { headers } = await rs.as('LOCK', '/documents/locked', { body });
    expect((await post('/documents/locked/')).status).toBe(423);
    const submitted = {
      If: `<http://rs.example/elsewhere> (Not <DAV:no-lock>) (${String(headers['lock-token'])})`,
    };
    expect((await post('/documents/locked/', 'x', submitted)).status).toBe(201);
  });

  test('POST to a collection that is removed while the content arrives is 404, and leaves nothing', async () => {
    await rs.as('MKCOL', '/documents/going');
    const contents = await rs.contents();
    async function* slow() {
      yield 'a';
      await rs.as('DELETE', '/documents/going');
      yield 'b';
    }
    const content = Readable.from(slow(), { objectMode: false });
    const reply = await rs.as('POST', '/documents/going/', { body: content });
    expect(reply.status).toBe(404);
    expect(await rs.contents()).toEqual(contents);
  });
});
