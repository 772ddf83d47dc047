import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `/documents/mkcol-${++made}`;
const mkcol = (path: string, call = {}) => rs.as('MKCOL', path, call);
const statusOf = async (path: string) => (await rs.as('GET', path)).status;

describe('RFC 4918 section 9.3: MKCOL', () => {
  test('MKCOL creates an empty collection, with or without a slash', async () => {
    for (const slash of ['', '/']) {
      const path = fresh();
      const reply = await mkcol(`${path}${slash}`);
      expect(reply).toMatchObject({ status: 201, text: '' });
      expect(reply.headers.location).toBe(`https://rs.example${path}/`);
      expect((await rs.as('GET', `${path}/`)).text).toBe('{"members":[]}');
    }
  });

  test('section 9.3.1: MKCOL at an existing resource is 405 with Allow, and does not change it', async () => {
    const path = fresh();
    await mkcol(path);
    await rs.as('PUT', `${path}/a`, { body: 'x' });
    for (const target of [path, `${path}/`, `${path}/a`, `${path}/a/`, '/documents/']) {
      const reply = await mkcol(target);
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).not.toContain('MKCOL');
      expect(reply.headers.allow).toContain('GET');
    }
    expect(await statusOf(`${path}/a`)).toBe(200);
  });

  test('MKCOL without a parent collection is 409, and creates nothing', async () => {
    const path = fresh();
    expect((await mkcol(`${path}/a`)).status).toBe(409);
    expect(await statusOf(`${path}/`)).toBe(404);
    await rs.as('PUT', path, { body: 'x' });
    expect((await mkcol(`${path}/a`)).status).toBe(409);
  });

  test('MKCOL with any content is 415, and creates nothing', async () => {
    const path = fresh();
    const xml = { 'Content-Type': 'application/xml' };
    const refused = [
      await mkcol(path, { body: '<D:mkcol xmlns:D="DAV:"/>', headers: xml }),
      await mkcol(path, { body: Readable.from([Buffer.from('x')]) }),
      await mkcol(path, { body: 'x'.repeat(1_000_000) }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([415, 415, 415]);
    expect(await statusOf(`${path}/`)).toBe(404);
    expect((await mkcol(path, { body: '' })).status).toBe(201);
  });

  test('one of ten MKCOLs at the same time creates the collection, and nine get 405', async () => {
    const path = fresh();
    const replies = await Promise.all(Array.from({ length: 10 }, () => mkcol(path)));
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 405)]);
  });

  test('one of MKCOL and PUT at the same path at the same time succeeds', async () => {
    const path = fresh();
    const [collection, document] = await Promise.all([
      mkcol(path),
      rs.as('PUT', path, { body: 'x' }),
    ]);
    expect([collection.status, document.status].toSorted((a, b) => a - b)).toEqual([201, 405]);
    expect(await statusOf(`${path}/`)).toBe(collection.status === 201 ? 200 : 404);
  });

  test('RFC 9110 section 13.1.1: MKCOL checks conditions', async () => {
    const path = fresh();
    expect((await mkcol(path, { headers: { 'If-Match': '*' } })).status).toBe(412);
    expect((await mkcol(path, { headers: { 'If-None-Match': '*' } })).status).toBe(201);
  });
});
