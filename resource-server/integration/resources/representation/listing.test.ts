import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
  await rs.as('MKCOL', '/documents/list');
  await rs.as('MKCOL', '/documents/list/deep');
  await rs.as('PUT', '/documents/list/deep/er', { body: 'x' });
  await put('/documents/list/b', 'bb');
  await put('/documents/list/a', 'a');
});
afterAll(() => rs[Symbol.asyncDispose]());

const put = (path: string, body: string) =>
  rs.as('PUT', path, { body, headers: { 'Content-Type': 'text/plain' } });
const get = (path: string, headers = {}) => rs.as('GET', path, { headers });
const html = (path: string) => get(path, { Accept: 'text/html' });

interface Page {
  readonly members: readonly { readonly name: string }[];
  readonly next?: string;
}
const pageOf = async (path: string): Promise<Page> => JSON.parse((await get(path)).text) as Page;

describe('RFC 9110 section 12.5.1: a listing in the format that the client likes', () => {
  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/*', 'text/html'],
    ['text/html;q=0.1, application/json;q=0.2', 'application/json'],
    ['application/json;q=0, */*', 'text/html'],
  ])('a listing for Accept %s has the format %s', async (accept, type) => {
    const reply = await get('/documents/list/', accept === undefined ? {} : { Accept: accept });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(new RegExp(`^${type}`));
    expect(reply.headers.vary).toContain('Accept');
    expect(reply.headers['cache-control']).toBe('private, no-cache');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each(['image/png', 'text/html;q=0, application/json;q=0', 'nonsense'])(
    'section 15.5.7: a listing for Accept %s is 406 and names the formats',
    async (accept) => {
      const reply = await get('/documents/list/', { Accept: accept });
      expect(reply.status).toBe(406);
      expect(reply.text).toContain('application/json or text/html');
    },
  );

  test('a document is sent in its one format, whatever Accept says', async () => {
    expect((await get('/documents/list/a', { Accept: 'image/png' })).status).toBe(200);
  });
});

test('the page of a listing has collections before documents', async () => {
  await rs.as('MKCOL', '/documents/sorted');
  await rs.as('MKCOL', '/documents/sorted/z');
  await put('/documents/sorted/a.txt', 'a');
  const { text } = await html('/documents/sorted/');
  const rows = [...text.matchAll(/<a href="\.\/([^"]*)"/g)].map(([, name]) => name);
  expect(rows).toEqual(['z/', 'a.txt']);
});

describe('for machines', () => {
  test('a listing in JSON has the direct members, by name', async () => {
    const modified = new Date(rs.clock.now()).toISOString();
    const etag = async (path: string) => (await get(path)).headers.etag;
    expect(await pageOf('/documents/list/')).toEqual({
      members: [
        {
          name: 'a',
          type: 'text/plain',
          length: 1,
          modified,
          etag: await etag('/documents/list/a'),
        },
        {
          name: 'b',
          type: 'text/plain',
          length: 2,
          modified,
          etag: await etag('/documents/list/b'),
        },
        { name: 'deep/' },
      ],
    });
  });

  test('an empty collection has an empty list, and a missing one is 404', async () => {
    await using empty = await startResourceServer();
    expect((await empty.as('GET', '/documents/')).text).toBe('{"members":[]}');
    expect((await empty.as('GET', '/documents/none/')).status).toBe(404);
    await empty.as('MKCOL', '/documents/new');
    expect((await empty.as('GET', '/documents/new/')).text).toBe('{"members":[]}');
  });

  test('a listing has pages of 1,000, and `next` leads through all members once', async () => {
    await using full = await startResourceServer();
    const names = Array.from({ length: 2001 }, (_, n) => `${n}`.padStart(5, '0')).map((n) =>
      n.endsWith('00') ? `${n} &?#+ü` : n,
    );
    const { locksVersion } = await full.stores.trees.look('/documents', []);
    await full.stores.trees.commit('/documents', {
      seen: new Map(),
      locksVersion,
      edits: names.map((path) => ({
        kind: 'put',
        entry: {
          kind: 'collection',
          path,
          revision: path,
          created: 0,
          modified: 0,
          properties: {},
        },
      })),
      quota: { bytes: 1e9, properties: 0, entries: 1e6 },
    });
    const found: string[] = [];
    const sizes: number[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const { text } = await full.as('GET', `/documents/${next}`);
      const page = JSON.parse(text) as Page;
      found.push(...page.members.map(({ name }) => name.slice(0, -1)));
      sizes.push(page.members.length);
      next = page.next;
    }
    expect(sizes).toEqual([1000, 1000, 1]);
    expect(found).toEqual(names);
    const people = await full.as('GET', '/documents/', { headers: { Accept: 'text/html' } });
    expect(people.text).toMatch(/<a [^>]*href="\?after=00999"\s*>\s*Next page/);
  });

  test.each(['?after=', '?other=1', '?after=a&after=b', '?after', '?%ff', '?after=%00%ff'])(
    'a listing with any query component is no error: %s',
    async (query) => {
      const reply = await get(`/documents/list/${query}`);
      expect(reply.status).toBe(200);
    },
  );

  test('a listing after a name continues behind it, whether or not the name exists', async () => {
    const after = async (name: string) =>
      (await pageOf(`/documents/list/?after=${name}`)).members.map((member) => member.name);
    expect(await after('a')).toEqual(['b', 'deep/']);
    expect(await after('aa')).toEqual(['b', 'deep/']);
    expect(await after('zz')).toEqual([]);
  });
});

describe('RFC 9110 section 8.8.3: its entity tag', () => {
  test('the entity tag of a listing differs by format, and changes with the listed members', async () => {
    const path = '/documents/tagged/';
    await rs.as('MKCOL', path);
    await put(`${path}a`, 'x');
    const [json, page] = [await get(path), await html(path)];
    expect(json.headers.etag).not.toBe(page.headers.etag);
    for (const [accept, reply] of [
      ['application/json', json],
      ['text/html', page],
    ] as const) {
      const headers = { Accept: accept, 'If-None-Match': reply.headers.etag };
      const unchanged = await get(path, headers);
      expect(unchanged).toMatchObject({ status: 304, text: '' });
      expect(unchanged.headers.vary).toBe(reply.headers.vary);
      expect((await get(path, { Accept: accept, 'If-Match': '"other"' })).status).toBe(412);
    }
    await put(`${path}a`, 'y');
    const again = await get(path, { 'If-None-Match': json.headers.etag });
    expect(again.status).toBe(200);
  });

  test('ranges of a listing apply to the selected format', async () => {
    const reply = await get('/documents/list/', { Accept: 'text/html', Range: 'bytes=0-14' });
    expect(reply).toMatchObject({ status: 206, text: '<!doctype html>' });
  });
});

describe('for people', () => {
  const EVIL = [
    '<script>alert(1)',
    '"onmouseover="alert(1)',
    "'&amp;",
    'javascript:alert(1)',
    'https:',
    'a?b#c',
  ];
  let text: string;
  beforeAll(async () => {
    await rs.as('MKCOL', '/documents/evil%3Cb%3E');
    for (const name of EVIL) {
      await put(`/documents/evil%3Cb%3E/${encodeURIComponent(name)}`, 'x');
    }
    ({ text } = await html('/documents/evil%3Cb%3E/'));
  });

  test('the page of a listing escapes names, and links to the members', async () => {
    expect(text).toContain('<h1><bdi>evil&lt;b&gt;</bdi></h1>');
    expect(text).not.toMatch(/<script|<b>|"onmouseover/);
    const base = new URL('http://rs.example/documents/evil%3Cb%3E/');
    const links = [...text.matchAll(/<td>\s*<a href="(\.\/[^"]*)"\s*>/g)].map(
      ([, href = '']) => new URL(href.replaceAll('&#39;', "'"), base),
    );
    expect(links).toHaveLength(EVIL.length);
    for (const { origin, pathname, search } of links) {
      expect(origin).toBe(base.origin);
      expect(search).toBe('');
      expect((await get(pathname)).text).toBe('x');
    }
  });

  test('the page of a listing allows no scripts, forms or frames', async () => {
    const { headers } = await html('/documents/list/');
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('script-src');
    expect(policy).not.toContain('unsafe');
  });

  test('the page of a listing is a table with headings and a link up, or a sentence for an empty collection', async () => {
    const page = (await html('/documents/list/')).text;
    expect(page.match(/<th scope="col"/g)).toHaveLength(3);
    expect(page).toContain('<a href="./deep/"><bdi>deep/</bdi></a>');
    expect(page).toContain('<a href="../">Parent folder</a>');
    expect((await html('/documents/')).text).not.toContain('href="../"');
    await rs.as('MKCOL', '/documents/void');
    expect((await html('/documents/void/')).text).toContain('This folder is empty.');
  });
});

describe('the way up', () => {
  test('the page of a listing names each collection from the top, and links to those above', async () => {
    const text = (await html('/documents/list/deep/')).text;
    const [, path = ''] = /<nav [^>]*>([^]*?)<\/nav>/.exec(text) ?? [];
    const links = [...path.matchAll(/<a href="([^"]*)"\s*><bdi>([^<]*)/g)];
    expect(links.map(([, href, name]) => [href, name])).toEqual([
      ['../../', 'documents'],
      ['../', 'list'],
    ]);
    expect(path).toMatch(/<bdi aria-current="page">deep<\/bdi>/);
    for (const [, href = ''] of links) {
      const { pathname } = new URL(href, 'http://rs.example/documents/list/deep/');
      expect((await get(pathname)).status).toBe(200);
    }
  });
});

describe('RFC 9110 section 12.5.4: its language', () => {
  test("the page of a listing has the client's language, and is cached per language", async () => {
    const asked = (language: string, accept = 'text/html') =>
      get('/documents/list/', { Accept: accept, 'Accept-Language': language });
    for (let twice = 0; twice < 2; twice += 1) {
      const [en, de] = [await asked('en'), await asked('de-AT')];
      expect([en.headers['content-language'], de.headers['content-language']]).toEqual([
        'en',
        'de',
      ]);
      expect(de.text).toContain('Übergeordneter Ordner');
      expect(de.headers.vary).toContain('Accept-Language');
      expect(de.headers.etag).not.toBe(en.headers.etag);
    }
    const json = await asked('de', 'application/json');
    expect(json.headers).not.toHaveProperty('content-language');
    expect(json.headers.vary).not.toContain('Accept-Language');
  });
});

describe('RFC 9110 section 15.4.9: without its slash', () => {
  test('a collection without its slash is 308 to its URL with the slash, with the query', async () => {
    for (const method of ['GET', 'HEAD']) {
      const space = await rs.as(method, '/documents?a=b');
      expect(space.status).toBe(308);
      expect(space.headers.location).toBe('https://rs.example/documents/?a=b');
      const below = await rs.as(method, '/documents/list?after=a');
      expect(below.status).toBe(308);
      expect(below.headers.location).toBe('https://rs.example/documents/list/?after=a');
    }
  });
});
