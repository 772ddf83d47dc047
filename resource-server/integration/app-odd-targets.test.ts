import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spaceAt, clientOf } from './spaces-under-test.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from './resource-server.fixture.ts';

/**
 * Only a tree of documents accepts these targets. There a doubled slash is read as one slash, and names may contain a
 * carriage return.
 */
let rs: TestResourceServer;
let ask: ReturnType<typeof clientOf>;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('docs'),
      spaceAt('within', { url: `${RESOURCE}/docs/within/` }),
      spaceAt('who', { serves: 'identity' }),
    ],
  });
  ask = clientOf(rs);
});
afterAll(() => rs[Symbol.asyncDispose]());

const status = async (method: string, path: string, call = {}) =>
  (await ask(method, path, call)).status;

describe('within a tree of documents', () => {
  test('every method reads a doubled slash as one slash', async () => {
    expect(await status('MKCOL', '/docs//c//')).toBe(201);
    expect(await status('PUT', '/docs//c///a', { body: 'content' })).toBe(201);
    expect((await ask('GET', '/docs/c/a')).text).toBe('content');
    const moved = await ask('MOVE', '/docs//c/a', { headers: { Destination: '/docs/c//b' } });
    expect([moved.status, moved.headers.location]).toEqual([201, `${RESOURCE}/docs/c/b`]);
    expect(await status('GET', '/docs/c/b//')).toBe(404);
    expect(await status('GET', '/docs//')).toBe(200);
    expect(await status('DELETE', '/docs//c//')).toBe(204);
  });

  test('a carriage return in a name is encoded in fields and in XML', async () => {
    const made = await ask('PUT', '/docs/Icon%0D', { body: 'icon' });
    expect([made.status, made.headers.location]).toEqual([201, `${RESOURCE}/docs/Icon%0D`]);
    expect((await ask('GET', '/docs/Icon%0d')).text).toBe('icon');
    expect(await status('GET', '/docs/Icon')).toBe(404);
    const found = await ask('PROPFIND', '/docs/', { headers: { Depth: '1' } });
    expect(found.text).toContain('<D:href>/docs/Icon%0D</D:href>');
    expect(found.text).not.toContain('\r');
    const listed = await ask('GET', '/docs/', { headers: { Accept: 'text/html' } });
    expect(listed.text).toContain('href="./Icon%0D"');
    const headers = { Destination: '/docs/folder%0D' };
    const copied = await ask('COPY', '/docs/Icon%0D', { headers });
    expect([copied.status, copied.headers.location]).toEqual([201, `${RESOURCE}/docs/folder%0D`]);
    expect(await status('MKCOL', '/docs/c%0D')).toBe(201);
    const slash = await ask('GET', '/docs/c%0D');
    expect([slash.status, slash.headers.location]).toEqual([308, `${RESOURCE}/docs/c%0D/`]);
    const If = '</docs/Icon%0D> (["x"])';
    expect(await status('DELETE', '/docs/Icon%0D', { headers: { If } })).toBe(412);
    expect(await status('DELETE', '/docs/Icon%0D')).toBe(204);
  });

  test.each(['%0A', '%0D%0A', '%00', '%09', '%7F', '%C2%85', '..', '%2e', '%2F', '%5C', '%'])(
    'a name that contains %s is refused (RFC 9110 section 17.3)',
    async (name) => {
      expect(await status('PUT', `/docs//a${name}b/${name}`, { body: 'x' })).toBe(400);
      expect(await status('PUT', `/docs/${name}`, { body: 'x' })).not.toBe(201);
    },
  );
});

describe('a path in a space must have one reading, or is 400', () => {
  test.each([
    '//docs/a',
    '//docs//a',
    '/do%0Dcs/a',
    '/docs%0D/a',
    '/docs//within/a',
    '/docs//within//a',
    '/docs/within%0D//..//a',
    '//',
    '/nowhere//a',
    '/who//',
    '/who/%0D',
    '//health/live',
    '/health//live',
    '/health/live%0D',
    '//verify',
    '/verify//',
    '/.well-known//oauth-protected-resource',
    '/.well-known/oauth-protected-resource//docs',
  ])('the path %s in a space is 400, since it can be read in two ways', async (path) => {
    expect(await status('GET', path)).toBe(400);
    expect(await status('OPTIONS', path)).toBe(400);
  });

  test('a path in Destination that can be read in two ways is 400 (RFC 4918 section 10.3)', async () => {
    await ask('PUT', '/docs/source', { body: 'x' });
    for (const Destination of ['//docs/a', '/docs//within/a', '/docs%0D/a', '/within//a']) {
      const reply = await ask('COPY', '/docs/source', { headers: { Destination } });
      expect([400, 403]).toContain(reply.status);
    }
    const at = (Destination: string) =>
      status('COPY', '/docs/source', { headers: { Destination } });
    expect(await at(`${RESOURCE}/docs//copy`)).toBe(201);
    expect(await at('/docs/within//copy')).toBe(403);
  });
});
