import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Stores } from '#shared/stores/stores.ts';
import { startResourceServer, type TestResourceServer } from '../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const put = (path: string, body: string) => rs.as('PUT', path, { body });
const get = (path: string) => rs.as('GET', path);

describe('names', () => {
  test('any name that a target can have is stored, and is never used as a file name', async () => {
    await rs.as('MKCOL', '/documents/names');
    for (const name of [
      'Gr%C3%BC%C3%9Fe%20%F0%9F%98%80',
      'a%3Fb%23c',
      '%22%3B',
      '__proto__',
      'constructor',
      'C:',
      '~',
      '%25',
      '%2525',
      '...',
      '%E2%80%AEfdp.exe',
    ]) {
      const path = `/documents/names/${name}`;
      const created = await put(path, name);
      expect(created.status).toBe(201);
      expect((await get(path)).text).toBe(name);
      const location = new URL(created.headers.location ?? '');
      expect((await get(location.pathname)).text).toBe(name);
    }
    expect((await rs.contents()).every((file) => /^[\da-z]{9}-[\w-]{22}$/.test(file))).toBe(true);
  });

  test('two spellings of one path lead to the same document', async () => {
    await put('/documents/sp%65lling', 'x');
    expect((await get('/documents/spelling')).text).toBe('x');
    expect((await get('/%64ocuments/spelling')).text).toBe('x');
  });

  test('composed and decomposed spellings (macOS) of a name lead to the same resource', async () => {
    const [composed, decomposed] = ['\u00e9', 'e\u0301'].map(
      (name) => `/documents/${encodeURIComponent(name)}`,
    ) as [string, string];
    expect((await put(decomposed, 'from a Mac')).status).toBe(201);
    expect((await get(composed)).text).toBe('from a Mac');
    expect((await put(composed, 'from elsewhere')).status).toBe(204);
    expect((await get(decomposed)).text).toBe('from elsewhere');
    expect((await rs.as('DELETE', composed)).status).toBe(204);
    expect((await get(decomposed)).status).toBe(404);
  });

  test('names that differ in case are different resources, on any file system', async () => {
    await put('/documents/Case', 'upper');
    await put('/documents/case', 'lower');
    expect((await get('/documents/Case')).text).toBe('upper');
    expect((await get('/documents/case')).text).toBe('lower');
  });

  test('a path with a slash at its end does not lead to the document', async () => {
    await put('/documents/slashed', 'x');
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'POST']) {
      expect((await rs.as(method, '/documents/slashed/')).status).toBe(404);
    }
    expect((await get('/documents/slashed')).text).toBe('x');
  });

  test.each([
    '/documents/../secret',
    '/documents/..',
    '/documents/%2e%2e/secret',
    '/documents/%2E',
    '/documents/a%2Fb',
    '/documents/..%2Fsecret',
    '/documents/a%5Cb',
    '/documents/a%00b',
    '/documents/a%0D%0Ab',
    '/documents/%ff',
    '/documents/%ED%A0%80',
    '/documents/%C0%AF',
    '/documents/%zz',
  ])('the path %s is 400 for any method', async (path) => {
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MKCOL']) {
      expect((await rs.as(method, path)).status).toBe(400);
    }
  });

  test('RFC 9110 section 15.5.15: a name over 255 bytes or a path over 1024 bytes is 414', async () => {
    expect((await put(`/documents/${'n'.repeat(255)}`, 'x')).status).toBe(201);
    expect((await put(`/documents/${'n'.repeat(256)}`, 'x')).status).toBe(414);
    expect((await put(`/documents/${'%C3%BC'.repeat(128)}`, 'x')).status).toBe(414);
    expect((await put(`/documents/${'nnn/'.repeat(256)}nnn`, 'x')).status).toBe(414);
    expect((await get(`/documents/${'n'.repeat(256)}`)).status).toBe(414);
  });
});

test('an unexpected error is 500 without its message', async () => {
  const failing = (stores: Stores): Stores => ({
    ...stores,
    trees: { ...stores.trees, get: () => Promise.reject(new Error('inner secret')) },
  });
  await using broken = await startResourceServer({}, failing);
  const reply = await broken.as('GET', '/documents/a');
  expect(reply.status).toBe(500);
  expect(reply.text).not.toContain('inner secret');
  expect(broken.lines.join('')).toContain('inner secret');
});

test('the sweep keeps files that rows name, and removes old unused files', async () => {
  await using old = await startResourceServer();
  const LONG = 'x'.repeat(20_000);
  await old.as('PUT', '/documents/a', { body: LONG });
  const [named = ''] = await old.files();
  expect(await old.stores.trees.files('/documents')).toEqual(new Set([named]));
  const keeping = await old.stores.trees.get('/documents', 'a');
  await old.as('PUT', '/documents/b', { body: LONG });
  const { locksVersion } = await old.stores.trees.look('/documents', []);
  await old.stores.trees.commit('/documents', {
    seen: new Map(),
    locksVersion,
    edits: [{ kind: 'remove', path: 'b' }],
    quota: { bytes: 1e9, entries: 1e6, properties: 1e6 },
  });
  expect(await old.files()).toHaveLength(2);
  const sweep = () => old.server.chores.find(({ name }) => name === 'sweep.content')?.run();
  old.clock.advance(1e9);
  await sweep();
  expect(await old.files()).toEqual([named]);
  expect(await old.stores.trees.get('/documents', 'a')).toEqual(keeping);
});
