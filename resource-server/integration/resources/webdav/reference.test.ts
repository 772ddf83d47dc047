import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spaceAt } from '../../spaces-under-test.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../../resource-server.fixture.ts';

const rooted = { safe: ['root:read'], unsafe: ['root:write'] };
let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('root', { url: `${RESOURCE}/`, scopes: rooted }),
      spaceAt('docs'),
      spaceAt('private', { url: `${RESOURCE}/docs/private/` }),
      spaceAt('deep', { url: `${RESOURCE}/docs/a/b/` }),
    ],
  });
  await docs('PUT', '/docs/doc', {}, 'content');
  await docs('MKCOL', '/docs/c');
  await docs('PUT', '/docs/c/b', {}, 'shadow');
  await root('PUT', '/doc', {}, 'content');
});
afterAll(() => rs[Symbol.asyncDispose]());

const client =
  (scope: string, aud: string) =>
  (method: string, path: string, fields: Record<string, string> = {}, body?: string) => {
    const token = rs.token(`${scope}:read ${scope}:write`, { aud });
    return rs.ask(method, path, {
      headers: { Authorization: `Bearer ${token}`, ...fields },
      ...(body !== undefined && { body }),
    });
  };
const docs = client('docs', `${RESOURCE}/docs/`);
const root = client('root', `${RESOURCE}/`);

/** Returns the names of all resources in a tree. */
const kept = async (tree: string) =>
  (await rs.stores.trees.below(tree, '', 100)).map(({ path }) => path);

describe('RFC 4918 sections 9.8.4 and 9.9.4: an address that no request finds here is no Destination', () => {
  test.each([
    ['a space within', '/docs/private'],
    ['the same with a slash', '/docs/private/'],
    ['what is in it', '/docs/private/x'],
    ['as an absolute URI', `${RESOURCE}/docs/private/x`],
    ['in other characters', '/docs/%70rivate/x'],
    ['where members would come to stand in a space within', '/docs/a'],
    ['the space around', '/x'],
  ])(
    'COPY and MOVE refuse the Destination %s, since no request finds it here',
    async (_, destination) => {
      const before = await kept('/docs');
      for (const method of ['COPY', 'MOVE']) {
        for (const path of ['/docs/doc', '/docs/c']) {
          expect((await docs(method, path, { Destination: destination })).status).toBe(403);
        }
      }
      expect(await kept('/docs')).toEqual(before);
    },
  );

  test.each([
    '/verify',
    '/verify/x',
    '/health',
    '/health/live',
    '/health/ready',
    '/.well-known/oauth-protected-resource',
    '/.well-known/x',
    '/docs',
    '/docs/x',
  ])('from a space at the root, COPY and MOVE refuse the Destination %s', async (destination) => {
    const before = await kept('/');
    for (const method of ['COPY', 'MOVE']) {
      expect((await root(method, '/doc', { Destination: destination })).status).toBe(403);
    }
    expect(await kept('/')).toEqual(before);
  });

  test('COPY accepts names that only begin like a reserved address', async () => {
    for (const destination of ['/verified', '/healthy', '/docs-2']) {
      expect((await root('COPY', '/doc', { Destination: destination })).status).toBe(201);
      expect((await root('GET', destination)).text).toBe('content');
    }
    expect((await docs('COPY', '/docs/doc', { Destination: '/docs/privat' })).status).toBe(201);
    expect((await docs('GET', '/docs/privat')).text).toBe('content');
  });
});

test.each(['/verify/x', '/health', '/.well-known/x'])(
  'a space at the root has no resource at %s',
  async (path) => {
    for (const [method, body] of [['PUT', 'x'], ['MKCOL'], ['PROPFIND'], ['GET']] as const) {
      expect((await root(method, path, {}, body)).status).toBe(404);
    }
    expect(await kept('/')).not.toContain(path.slice(1));
  },
);

describe('RFC 4918 section 10.4.4: a tag of If that a request would not find here has no state', () => {
  test('a tag of If for an inner space has no state', async () => {
    const within = client('private', `${RESOURCE}/docs/private/`);
    const { headers } = await within('PUT', '/docs/private/doc', {}, 'content');
    const other = await docs('PUT', '/docs/doc', {}, 'content');
    for (const tag of ['/docs/private/doc', '/docs/private', '/verify', '/doc']) {
      for (const etag of [headers.etag, other.headers.etag]) {
        expect((await docs('GET', '/docs/doc', { If: `<${tag}> ([${etag}])` })).status).toBe(412);
      }
      expect((await docs('GET', '/docs/doc', { If: `<${tag}> (Not ["x"])` })).status).toBe(200);
    }
    const own = `</docs/doc> ([${other.headers.etag}])`;
    expect((await docs('GET', '/docs/doc', { If: own })).status).toBe(200);
  });
});
