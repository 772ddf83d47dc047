import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { propertiesIn, textOf } from '../webdav/dav.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const PATH = '/documents/a.txt';
beforeEach(async () => {
  await rs.as('DELETE', PATH);
  await rs.as('PUT', PATH, { headers: { 'Content-Type': 'text/plain' }, body: 'content' });
});

const update = (content: string) =>
  `<D:propertyupdate xmlns:D="DAV:">${content}</D:propertyupdate>`;
const set = (...elements: readonly string[]) =>
  update(`<D:set><D:prop>${elements.join('')}</D:prop></D:set>`);
const proppatch = (body: string, path = PATH, headers = {}) =>
  rs.as('PROPPATCH', path, { body, headers });

/** Returns all dead and live properties at a path. */
async function properties(path = PATH) {
  const reply = await rs.as('PROPFIND', path, { headers: { Depth: '0' } });
  const [found] = propertiesIn(reply).values();
  return found ?? new Map();
}
async function valueOf(key: string, path = PATH): Promise<string | undefined> {
  const found = (await properties(path)).get(key);
  return found && textOf(found.element);
}

describe('RFC 4918 section 9.2', () => {
  test('a property that was set is found by allprop and by name, also of a collection', async () => {
    for (const path of [PATH, '/documents/']) {
      const reply = await proppatch(set('<x:a xmlns:x="x">b</x:a>', '<c/>'), path);
      const [answered] = propertiesIn(reply);
      expect(answered?.[0]).toBe(path);
      expect([...(answered?.[1] ?? [])].map(([key, { status }]) => [key, status])).toEqual([
        ['{x}a', 200],
        ['{}c', 200],
      ]);
      await expect(valueOf('{x}a', path)).resolves.toBe('b');
      await expect(valueOf('{}c', path)).resolves.toBe('');
    }
  });

  test('PROPPATCH does not change the content, its entity tag and Last-Modified (section 15.7)', async () => {
    const before = await rs.as('GET', PATH);
    rs.clock.advance(60);
    await proppatch(set('<a/>'));
    const after = await rs.as('GET', PATH);
    expect(after.text).toBe('content');
    expect(after.headers.etag).toBe(before.headers.etag);
    expect(after.headers['last-modified']).toBe(before.headers['last-modified']);
  });

  test('PUT of new content keeps the properties (section 9.7)', async () => {
    await proppatch(set('<a>b</a>'));
    await rs.as('PUT', PATH, { body: 'new' });
    await expect(valueOf('{}a')).resolves.toBe('b');
  });

  test('PROPPATCH of a protected property is 403, and nothing else is done', async () => {
    const body = update(
      `<D:set><D:prop><a>b</a></D:prop></D:set>` +
        `<D:set><D:prop><D:getetag>"c"</D:getetag></D:prop></D:set>` +
        `<D:remove><D:prop><d/></D:prop></D:remove>`,
    );
    const [answered] = propertiesIn(await proppatch(body)).values();
    expect(answered?.get('{}a')).toMatchObject({ status: 424, error: [] });
    expect(answered?.get('{}d')).toMatchObject({ status: 424 });
    expect(answered?.get('{DAV:}getetag')).toMatchObject({
      status: 403,
      error: ['cannot-modify-protected-property'],
    });
    await expect(valueOf('{}a')).resolves.toBeUndefined();
  });

  test('Windows may set its three dates and its attributes (golang/go#11177)', async () => {
    const names = ['Win32CreationTime', 'Win32LastAccessTime', 'Win32LastModifiedTime'];
    const times = names.map((name) => `<Z:${name}>Thu, 01 Jan 2026 00:00:00 GMT</Z:${name}>`);
    const attributes = '<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>';
    const body =
      `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" ` +
      `xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>${times.join('')}${attributes}` +
      `</D:prop></D:set></D:propertyupdate>`;
    const reply = await proppatch(body, PATH, { 'Content-Type': 'text/xml; charset="utf-8"' });
    const [answered] = propertiesIn(reply).values();
    expect([...(answered ?? [])].map(([, { status }]) => status)).toEqual([200, 200, 200, 200]);
    await expect(valueOf('{urn:schemas-microsoft-com:}Win32FileAttributes')).resolves.toBe(
      '00000020',
    );
  });

  test('properties over the limit are 507 (section 9.2.1), and old values stay', async () => {
    await proppatch(set('<a>old</a>'));
    const reply = await proppatch(set('<b/>', `<a>${'c'.repeat(32 * 1024)}</a>`));
    const [answered] = propertiesIn(reply).values();
    expect(answered?.get('{}a')?.status).toBe(507);
    expect(answered?.get('{}b')?.status).toBe(424);
    await expect(valueOf('{}a')).resolves.toBe('old');
  });
});

describe('RFC 4331 section 6: the quota', () => {
  let small: TestResourceServer;
  beforeAll(async () => {
    small = await startResourceServer({ documents: { quota: { bytes: 1000 } } });
  });
  afterAll(() => small[Symbol.asyncDispose]());

  const text = (length: number) => 'c'.repeat(length);
  const into = (path: string, body: string) => small.as('PROPPATCH', path, { body });
  const used = async () => (await small.stores.trees.look('/documents', [])).usage.bytes;

  test('PROPPATCH over the quota is 507, and nothing is done', async () => {
    await small.as('PUT', PATH, { body: text(500) });
    expect((await into(PATH, set(`<a>${text(400)}</a>`))).status).toBe(207);
    const before = await used();
    for (const path of [PATH, '/documents/']) {
      const refused = await into(path, set(`<b>${text(100)}</b>`));
      expect(refused.status).toBe(507);
      expect(refused.text).toContain('<D:quota-not-exceeded/>');
    }
    expect((await into(PATH, set(`<a>${text(500)}</a>`))).status).toBe(507);
    expect(await used()).toBe(before);
    expect((await small.as('PROPFIND', PATH, { headers: { Depth: '0' } })).text).not.toMatch(/<b/);
  });

  test('properties take room from content and copies until they are removed', async () => {
    await small.as('PUT', PATH, { body: '' });
    await into(PATH, set(`<a>${text(600)}</a>`));
    const headers = { Destination: '/documents/copy' };
    expect((await small.as('COPY', PATH, { headers })).status).toBe(507);
    expect((await small.as('PUT', '/documents/new', { body: text(500) })).status).toBe(507);
    expect((await into(PATH, update('<D:remove><D:prop><a/></D:prop></D:remove>'))).status).toBe(
      207,
    );
    expect(await used()).toBe(0);
    expect((await small.as('PUT', '/documents/new', { body: text(500) })).status).toBe(201);
  });
});

describe('RFC 4918 section 4.3: values that the server keeps', () => {
  test.each([
    ['language', '<a xml:lang="de">b</a>'],
    ['elements', '<x:a xmlns:x="x"><x:b c="d" x:e="f">g</x:b> <h xmlns="i"/></x:a>'],
    ['markup as text', '<a>&lt;/D:prop>&lt;D:evil/>]]&gt;<![CDATA[</a>&]]></a>'],
    ['prefixes of ours', '<D:a xmlns:D="evil"><D:prop/></D:a>'],
    ['odd URIs', `<a xmlns="'&amp;lt;D:a/"/>`],
    ['odd names', '<constructor xmlns="__proto__"><__proto__ é="ü"/></constructor>'],
    ['characters past the first plane', '<a>\u{1F600}</a>'],
  ])('PROPPATCH keeps %s of a value', async (_, property) => {
    const stored = await proppatch(set(property));
    const [[key] = ['']] = [...(propertiesIn(stored).get(PATH) ?? [])];
    const element = (await properties()).get(key)?.element;
    expect(element).toBeDefined();
    const again = await proppatch(set(property));
    expect(propertiesIn(again).get(PATH)?.get(key)?.status).toBe(200);
    expect((await properties()).get(key)?.element).toEqual(element);
    expect([...(await properties()).keys()].filter((name) => name.includes('evil'))).toEqual(
      key.includes('evil') ? [key] : [],
    );
  });
});

describe('refused', () => {
  test.each([
    ['no content', '', 400],
    ['no XML', 'set a', 400],
    ['XML that ends early', '<D:propertyupdate xmlns:D="DAV:">', 400],
    ['another element', '<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>', 422],
    ['nothing to do', update(''), 422],
    ['too many properties', set('<a/>'.repeat(257)), 413],
    ['a name that expat cannot read in any later answer', set('<\u{20000}/>'), 400],
    ['the same within a value', set('<a><b \u{20000}="c"/></a>'), 400],
    ['a namespace that ElementTree cannot read in any later answer', set('<a xmlns="u}"/>'), 400],
    ['a billion laughs', `<!DOCTYPE a [<!ENTITY b "c">]>${set('<a>&b;</a>')}`, 400],
    [
      'an external entity',
      `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${set('<a>&b;</a>')}`,
      403,
    ],
  ])('PROPPATCH with %s is refused', async (_, body, status) => {
    expect((await proppatch(body)).status).toBe(status);
  });

  test('PROPPATCH of a missing resource is 404, and creates nothing', async () => {
    for (const path of ['/documents/none', '/documents/none/', `${PATH}/`]) {
      expect((await proppatch(set('<a/>'), path)).status).toBe(404);
    }
    expect((await rs.as('GET', '/documents/none')).status).toBe(404);
  });

  test('RFC 9110 section 13: PROPPATCH with a failed condition is 412', async () => {
    expect((await proppatch(set('<a/>'), PATH, { 'If-Match': '"none"' })).status).toBe(412);
    await expect(valueOf('{}a')).resolves.toBeUndefined();
  });

  test("RFC 4918 section 7.1: PROPPATCH of a locked resource needs the lock's token", async () => {
    const body =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
      '<D:locktype><D:write/></D:locktype></D:lockinfo>';
    const { headers } = await rs.as('LOCK', PATH, { body });
    const token = String(headers['lock-token']);
    const refused = await proppatch(set('<a/>'));
    expect(refused.status).toBe(423);
    expect(refused.text).toContain('<D:lock-token-submitted>');
    expect((await proppatch(set('<a/>'), PATH, { If: `(${token})` })).status).toBe(207);
    await rs.as('UNLOCK', PATH, { headers: { 'Lock-Token': token } });
  });

  test('a token with the read scope cannot PROPPATCH', async () => {
    const token = rs.token('documents:read');
    const headers = { Authorization: `Bearer ${token}` };
    expect((await proppatch(set('<a/>'), PATH, headers)).status).toBe(403);
  });
});

test('ten concurrent PROPPATCHes of different properties set them all', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
  const replies = await Promise.all(names.map((name) => proppatch(set(`<${name}>v</${name}>`))));
  expect(replies.map(({ status }) => status)).toEqual(names.map(() => 207));
  const found = await properties();
  for (const name of names) expect(found.get(`{}${name}`)?.status).toBe(200);
});

test('ten concurrent PROPPATCHes of one property set one of the values', async () => {
  const values = Array.from({ length: 10 }, (_, index) => `v${index}`);
  await Promise.all(values.map((value) => proppatch(set(`<a>${value}</a><b>${value}</b>`))));
  const value = await valueOf('{}a');
  expect(values).toContain(value);
  await expect(valueOf('{}b')).resolves.toBe(value);
});
