import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import type { Stores } from '#shared/stores/stores.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `/documents/get-${++made}`;
const put = (path: string, body: string | Buffer, headers = {}) =>
  rs.as('PUT', path, { body, headers });
const get = (path: string, headers = {}) => rs.as('GET', path, { headers });
const etagOf = ({ headers }: Reply) => headers.etag ?? '';

describe('RFC 9110 section 9.3.1: GET', () => {
  test('GET gives content, type and validators, and forbids browsers to run the content', async () => {
    const path = fresh();
    const created = await put(path, '<script>', { 'Content-Type': 'text/html' });
    const read = await get(path);
    expect(read).toMatchObject({ status: 200, text: '<script>' });
    expect(read.headers).toMatchObject({
      etag: etagOf(created),
      'content-type': 'text/html',
      'content-length': '8',
      'last-modified': created.headers['last-modified'],
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'cache-control': 'private, no-cache',
    });
  });

  test('section 9.3.2: HEAD has the fields of GET and no content, even for errors', async () => {
    const path = fresh();
    await put(path, 'content', { 'Content-Type': 'text/html' });
    for (const target of [path, '/documents/', '/documents', '/documents/missing']) {
      const [head, read] = [await rs.as('HEAD', target), await get(target)];
      expect(head.text).toBe('');
      expect(head.status).toBe(read.status);
      const passing = { date: '', 'x-request-id': '' };
      expect({ ...head.headers, ...passing }).toEqual({ ...read.headers, ...passing });
    }
  });

  test('section 8.8.2: Last-Modified uses the clock that all servers share, not the clock of one server', async () => {
    await using one = await startResourceServer();
    const [first, second] = ['Tue, 01 Jan 2030 00:00:00 GMT', 'Tue, 01 Jan 2030 00:00:10 GMT'];
    const { clock } = one.stores.trees;
    const write = (method: string, path: string, date: string, headers = {}) => {
      Object.assign(clock, { now: () => Date.parse(date) });
      return one.as(method, path, { headers, ...(method === 'PUT' && { body: date }) });
    };
    const dated = async (path: string) => (await one.as('HEAD', path)).headers['last-modified'];
    const answer = await write('PUT', '/documents/a', first);
    expect([answer.headers['last-modified'], await dated('/documents/a')]).toEqual([first, first]);
    await write('PUT', '/documents/a', second);
    expect(await dated('/documents/a')).toBe(second);
    await write('MOVE', '/documents/a', first, { Destination: '/documents/b' });
    expect(await dated('/documents/b')).toBe(first);
    await write('MKCOL', '/documents/c/', second);
    const { text } = await one.as('PROPFIND', '/documents/c/', { headers: { Depth: '0' } });
    expect(text).toContain(second);
  });

  test('GET gives a long document completely', async () => {
    const path = fresh();
    const content = Buffer.alloc(99_999, 'long ');
    await put(path, content);
    const read = await get(path);
    expect(read.headers['content-length']).toBe('99999');
    expect(read.text).toBe(content.toString());
  });
});

describe('RFC 9110 section 13: conditions', () => {
  test('sections 13.1.2 and 13.1.3: a client that has the document gets 304 with the validators', async () => {
    const path = fresh();
    const created = await put(path, 'one');
    const tag = etagOf(created);
    const modified = created.headers['last-modified'];
    for (const headers of [
      { 'If-None-Match': tag },
      { 'If-None-Match': `W/${tag}` },
      { 'If-None-Match': '*' },
      { 'If-Modified-Since': modified },
      { 'If-None-Match': tag, Range: 'bytes=9-' },
    ]) {
      const reply = await get(path, headers);
      expect(reply).toMatchObject({ status: 304, text: '' });
      expect(reply.headers).toMatchObject({
        etag: tag,
        'last-modified': modified,
        'cache-control': 'private, no-cache',
      });
      expect(reply.headers['content-type']).toBeUndefined();
      expect(reply.headers['content-length']).toBeUndefined();
    }
    const other = { 'If-None-Match': '"x"', 'If-Modified-Since': modified };
    expect((await get(path, other)).status).toBe(200);
  });

  test('sections 13.1.1 and 13.1.4: If-Match and If-Unmodified-Since are checked', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'one'));
    expect((await get(path, { 'If-Match': tag })).status).toBe(200);
    expect((await get(path, { 'If-Match': '"other"' })).status).toBe(412);
    expect((await get(path, { 'If-Match': `W/${tag}` })).status).toBe(412);
    const past = 'Fri, 20 Nov 2020 08:00:00 GMT';
    expect((await get(path, { 'If-Unmodified-Since': past })).status).toBe(412);
    expect((await get(path, { 'If-Match': '"other"', 'If-None-Match': tag })).status).toBe(412);
  });

  test('section 13.2.1: conditions are ignored if the answer is 404 or a redirect without them', async () => {
    const headers = { 'If-Match': '"x"' };
    expect((await get(fresh(), headers)).status).toBe(404);
    expect((await get('/documents', headers)).status).toBe(308);
  });

  test('RFC 4918 section 10.4: If is checked for GET, too', async () => {
    const path = fresh();
    const tag = etagOf(await put(path, 'one'));
    expect((await get(path, { If: `([${tag}])` })).status).toBe(200);
    expect((await get(path, { If: '(["other"])' })).status).toBe(412);
    expect((await get(path, { If: '(<urn:uuid:none>)' })).status).toBe(412);
    expect((await get(path, { If: 'nonsense' })).status).toBe(400);
  });
});

describe('RFC 9110 section 14: ranges', () => {
  const TEXT = 'abcdefghijklmnopqrstuvwxyz';
  let path: string;
  let tag: string;
  beforeAll(async () => {
    path = fresh();
    tag = etagOf(await put(path, TEXT, { 'Content-Type': 'text/plain' }));
    rs.clock.advance(5);
  });

  test.each([
    ['bytes=0-3', 'abcd', 'bytes 0-3/26'],
    ['bytes=20-', 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-2', 'yz', 'bytes 24-25/26'],
    ['bytes=25-999', 'z', 'bytes 25-25/26'],
    ['bytes=-999', TEXT, 'bytes 0-25/26'],
    ['bytes=0-1,2-3', 'abcd', 'bytes 0-3/26'],
    ['bytes=1-1,99-', 'b', 'bytes 1-1/26'],
  ])('section 15.3.7.1: the range %s is 206', async (range, text, named) => {
    const reply = await get(path, { Range: range });
    expect(reply).toMatchObject({ status: 206, text });
    expect(reply.headers).toMatchObject({
      'content-range': named,
      'content-length': `${text.length}`,
      'content-type': 'text/plain',
      etag: tag,
      'x-content-type-options': 'nosniff',
    });
  });

  test('section 14.6: several ranges are multipart/byteranges, in the requested order', async () => {
    const reply = await get(path, { Range: 'bytes=20-21,0-2,-1' });
    expect(reply.status).toBe(206);
    const type = reply.headers['content-type'] ?? '';
    const boundary = /^multipart\/byteranges; boundary=([\w-]{22})$/.exec(type)?.[1] ?? '';
    expect(reply.text).toBe(
      [
        `\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes 20-21/26\r\n\r\nuv`,
        `\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-2/26\r\n\r\nabc`,
        `\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes 25-25/26\r\n\r\nz`,
        `\r\n--${boundary}--\r\n`,
      ].join(''),
    );
    expect(reply.headers['content-length']).toBe(`${reply.text.length}`);
    expect(reply.headers['content-range']).toBeUndefined();
    expect(reply.headers.etag).toBe(tag);
  });

  test('parts of a long document have the requested octets', async () => {
    const long = fresh();
    const content = Array.from({ length: 9999 }, (_, index) => `${index},`.padStart(10)).join('');
    await put(long, content);
    expect((await get(long, { Range: 'bytes=70000-70009' })).text).toBe(
      content.slice(70_000, 70_010),
    );
    const several = await get(long, { Range: 'bytes=-10,66000-66009,5-9' });
    expect(several.headers['content-length']).toBe(`${several.text.length}`);
    const bodies = several.text
      .split('\r\n')
      .filter((line) => content.includes(line) && line !== '');
    expect(bodies).toEqual([
      content.slice(-10),
      content.slice(66_000, 66_010),
      content.slice(5, 10),
    ]);
  });

  test('section 15.5.17: a range beyond the end is 416 with the length', async () => {
    const reply = await get(path, { Range: 'bytes=26-' });
    expect(reply.status).toBe(416);
    expect(reply.headers['content-range']).toBe('bytes */26');
    expect(reply.headers.etag).toBeUndefined();
  });

  test.each(['lines=0-1', 'bytes=3-1', 'bytes=x', `bytes=${'0-0,'.repeat(40)}`])(
    'section 14.2: the Range %s is ignored',
    async (range) => {
      expect(await get(path, { Range: range })).toMatchObject({ status: 200, text: TEXT });
    },
  );

  test('section 14.2: Range applies only to GET', async () => {
    const reply = await rs.as('HEAD', path, { headers: { Range: 'bytes=0-1' } });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-length']).toBe('26');
    const written = await put(fresh(), TEXT, { Range: 'bytes=0-1' });
    expect(written.status).toBe(201);
  });

  test('section 17.15: overlapping ranges never cost more than the content', async () => {
    const range = `bytes=${Array.from({ length: 32 }, (_, at) => `${at % 5}-`).join(',')}`;
    const reply = await get(path, { Range: range });
    expect(reply).toMatchObject({ status: 206, text: TEXT });
  });

  test('section 13.1.5: If-Range is checked', async () => {
    const { headers } = await get(path);
    const part = (condition = '') => get(path, { Range: 'bytes=0-1', 'If-Range': condition });
    expect((await part(tag)).status).toBe(206);
    expect(await part(`W/${tag}`)).toMatchObject({ status: 200, text: TEXT });
    expect(await part('"other"')).toMatchObject({ status: 200, text: TEXT });
    // A date is not a strong validator (section 8.8.2.2).
    expect((await part(headers['last-modified'])).status).toBe(200);
  });

  test('section 13.2.2: If-Match is checked before the range', async () => {
    const fields = { Range: 'bytes=99-', 'If-Match': '"other"' };
    expect((await get(path, fields)).status).toBe(412);
  });
});

describe('races', () => {
  test('GETs during replacements get one complete state or another, never an error', async () => {
    const path = fresh();
    const whole = (n: number) => `${n}`.repeat(50_000);
    await put(path, whole(0));
    const writing = (async () => {
      for (let n = 0; n < 10; n += 1) await put(path, whole(n));
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

  test.each([
    ['in rows', 0],
    ['in files', 20_000],
  ])(
    'GET of a document that is replaced between the reads of its row and its content reads again (%s)',
    async (_, least) => {
      let meanwhile: (() => Promise<unknown>) | undefined;
      const hooked = (stores: Stores): Stores => ({
        ...stores,
        trees: {
          ...stores.trees,
          async get(tree, path) {
            const row = await stores.trees.get(tree, path);
            const act = meanwhile;
            meanwhile = undefined;
            await act?.();
            return row;
          },
        },
      });
      // Memory is turned off, since content in memory would not be read again.
      const documents = { maxBytes: 100_000, memory: 0 };
      await using racing = await startResourceServer({ documents }, hooked);
      const long = (body: string) => body.padEnd(least, '.');
      const replace = (body: string) => () =>
        racing.as('PUT', '/documents/a', { body: long(body) });
      const read = (headers = {}) => racing.as('GET', '/documents/a', { headers });
      await replace('old')();
      meanwhile = replace('new');
      expect(await read()).toMatchObject({ status: 200, text: long('new') });
      meanwhile = replace('newer');
      expect(await read({ Range: 'bytes=0-0,2-2' })).toMatchObject({ status: 206 });
      meanwhile = replace('x'.repeat(80_000));
      expect((await read()).text).toHaveLength(80_000);
      meanwhile = replace('short');
      expect(await read({ Range: 'bytes=1-2' })).toMatchObject({ status: 206, text: 'ho' });
      meanwhile = () => racing.as('DELETE', '/documents/a');
      expect((await read()).status).toBe(404);
      await replace('document')();
      meanwhile = async () => {
        await racing.as('DELETE', '/documents/a');
        await racing.as('MKCOL', '/documents/a');
      };
      expect((await read()).status).toBe(308);
    },
  );

  test('GET of a row whose content is lost is 500, not an endless loop', async () => {
    await using lossy = await startResourceServer();
    await lossy.as('PUT', '/documents/a', { body: 'x' });
    const found = await lossy.stores.trees.get('/documents', 'a');
    if (found?.kind !== 'document') throw new Error('it is not there');
    const { locksVersion } = await lossy.stores.trees.look('/documents', []);
    await lossy.stores.trees.commit('/documents', {
      seen: new Map(),
      locksVersion,
      edits: [{ kind: 'put', entry: { ...found, revision: 'r', file: 'lost' } }],
      quota: { bytes: 1e9, entries: 1e6, properties: 1e6 },
    });
    expect((await lossy.as('GET', '/documents/a')).status).toBe(500);
    expect(
      (await lossy.as('GET', '/documents/a', { headers: { Range: 'bytes=0-0' } })).status,
    ).toBe(500);
  });
});

test('the sent bytes are the stored bytes, by their hash', async () => {
  const path = fresh();
  const content = Buffer.from(Array.from({ length: 80_000 }, (_, index) => (index * 7) % 256));
  await put(path, content);
  const { body: received } = (await supertest(`http://127.0.0.1:${rs.listening.port}`)
    .get(path)
    .set('Authorization', `Bearer ${rs.token('documents:read')}`)
    .responseType('blob')) as { readonly body: Buffer };
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(hash(received)).toBe(hash(content));
});
