import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `/documents/delete-${++made}`;
const put = (path: string, bytes = 1) => rs.as('PUT', path, { body: 'x'.repeat(bytes) });
/** Bytes of content that is stored in a file. */
const LONG = 20_000;
const remove = (path: string, headers = {}) => rs.as('DELETE', path, { headers });
const statusOf = async (path: string) => (await rs.as('GET', path)).status;

async function lock(path: string): Promise<string> {
  const body =
    '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
    '<D:locktype><D:write/></D:locktype></D:lockinfo>';
  const headers = { 'Content-Type': 'application/xml', Depth: '0', Timeout: 'Second-60' };
  const { headers: fields } = await rs.as('LOCK', path, { headers, body });
  return String(fields['lock-token']);
}

/** Creates a collection with a document, and a collection with a document below it. */
async function collection(): Promise<string> {
  const path = fresh();
  await rs.as('MKCOL', path);
  await rs.as('MKCOL', `${path}/below`);
  await put(`${path}/a`);
  await put(`${path}/below/b`, LONG);
  return path;
}

describe('RFC 9110 section 9.3.5: DELETE', () => {
  test.each([0, 1, LONG])(
    'DELETE removes document and content (%d bytes), and a second DELETE is 404',
    async (bytes) => {
      const path = fresh();
      await put(path, bytes);
      const contents = await rs.contents();
      expect(await remove(path)).toMatchObject({ status: 204, text: '' });
      expect(await rs.contents()).toHaveLength(contents.length - 1);
      expect((await remove(path)).status).toBe(404);
      expect(await rs.contents()).toHaveLength(contents.length - 1);
      expect(await statusOf(path)).toBe(404);
    },
  );

  test('section 13.1.1: DELETE removes a document only if its conditions hold', async () => {
    const path = fresh();
    const { headers } = await put(path);
    expect((await remove(path, { 'If-Match': '"other"' })).status).toBe(412);
    expect((await remove(path, { 'If-None-Match': '*' })).status).toBe(412);
    expect(await statusOf(path)).toBe(200);
    expect((await remove(path, { 'If-Match': headers.etag })).status).toBe(204);
    expect((await remove(path, { 'If-Match': '*' })).status).toBe(404);
  });

  test('one of ten DELETEs at the same time succeeds, and nine get 404', async () => {
    const path = fresh();
    await put(path);
    const replies = await Promise.all(Array.from({ length: 10 }, () => remove(path)));
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
  });

  test('DELETE of the space itself is 405 with Allow', async () => {
    for (const path of ['/documents/', '/documents']) {
      const reply = await remove(path);
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).not.toContain('DELETE');
    }
  });
});

describe('RFC 4918 section 9.6.1: DELETE of a collection', () => {
  test('DELETE of a collection removes all its members and their content', async () => {
    const contents = await rs.contents();
    for (const slash of ['', '/']) {
      const path = await collection();
      expect((await remove(`${path}${slash}`)).status).toBe(204);
      for (const member of ['', '/', '/a', '/below/', '/below/b']) {
        expect(await statusOf(`${path}${member}`)).toBe(404);
      }
    }
    expect(await rs.contents()).toEqual(contents);
  });

  test('DELETE leaves a collection whose name begins with the same characters', async () => {
    const path = await collection();
    await put(`${path}-2`);
    await remove(path);
    expect(await statusOf(`${path}-2`)).toBe(200);
  });

  test('DELETE of a collection with a Depth other than infinity is 400, and removes nothing', async () => {
    const path = await collection();
    for (const depth of ['0', '1', 'x', '', '0, infinity']) {
      expect((await remove(path, { Depth: depth })).status).toBe(400);
    }
    expect(await statusOf(`${path}/below/b`)).toBe(200);
    expect((await remove(path, { Depth: 'Infinity' })).status).toBe(204);
  });

  test('DELETE of a collection during PUTs into it leaves none of their documents', async () => {
    const path = await collection();
    const contents = await rs.contents();
    const replies = await Promise.all([
      put(`${path}/c`),
      remove(path),
      put(`${path}/d`, LONG),
      put(`${path}/below/e`),
    ]);
    const [, removed, ...others] = replies;
    expect(removed?.status).toBe(204);
    for (const { status } of others) expect([201, 409]).toContain(status);
    expect(await statusOf(`${path}/`)).toBe(404);
    expect(await statusOf(`${path}/c`)).toBe(404);
    expect(await rs.contents()).toHaveLength(contents.length - 2);
  });
});

describe('RFC 4918 section 7: locks', () => {
  test('DELETE of a locked document needs its token, and removes its lock', async () => {
    const path = fresh();
    await put(path);
    const token = await lock(path);
    expect((await remove(path)).status).toBe(423);
    expect((await remove(path, { If: '(<urn:uuid:other>) (Not <DAV:no-lock>)' })).status).toBe(423);
    expect((await remove(path, { If: `(${token})` })).status).toBe(204);
    expect((await put(path)).status).toBe(201);
    expect((await remove(path)).status).toBe(204);
  });

  test('section 7.4: DELETE of a member needs the token of a locked collection', async () => {
    const path = await collection();
    const token = await lock(path);
    expect((await remove(`${path}/a`)).status).toBe(423);
    expect((await remove(`${path}/a`, { If: `<${path}/> (${token})` })).status).toBe(204);
  });

  test('section 9.6.1: with a locked member DELETE is 207 that names it with 423, and nothing is removed', async () => {
    const path = await collection();
    const token = await lock(`${path}/below/b`);
    const reply = await remove(path);
    expect(reply.status).toBe(207);
    expect(reply.headers['content-type']).toMatch(/xml/);
    expect(reply.text).toContain(`<D:href>${path}/below/b</D:href>`);
    expect(reply.text).toContain('HTTP/1.1 423 Locked');
    expect(reply.text).not.toContain(`<D:href>${path}/a</D:href>`);
    for (const member of ['/a', '/below/b']) expect(await statusOf(`${path}${member}`)).toBe(200);
    const headers = { If: `<${path}/below/b> (${token})` };
    expect((await remove(path, headers)).status).toBe(204);
  });

  test('section 6.1: an expired lock does not prevent DELETE', async () => {
    const path = await collection();
    await lock(`${path}/a`);
    expect((await remove(path)).status).toBe(207);
    rs.clock.advance(60);
    expect((await remove(path)).status).toBe(204);
  });
});
