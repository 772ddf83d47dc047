import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { propertiesIn, textOf } from '../webdav/dav.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({ documents: { quota: { bytes: 1000, entries: 10_000 } } });
  await rs.as('MKCOL', '/documents/c');
  await rs.as('MKCOL', '/documents/c/d');
  const headers = { 'Content-Type': 'text/plain; charset="utf-8"' };
  await rs.as('PUT', '/documents/c/a.txt', { headers, body: 'four' });
  await rs.as('PUT', '/documents/c/d/%C3%A9%20&%3C%25.json', { body: '{}' });
});
afterAll(() => rs[Symbol.asyncDispose]());

const propfind = (path: string, depth: string | undefined, body?: string) =>
  rs.as('PROPFIND', path, {
    headers: { ...(depth !== undefined && { Depth: depth }) },
    ...(body !== undefined && { body }),
  });
const ask = (content: string) => `<D:propfind xmlns:D="DAV:">${content}</D:propfind>`;

/** Names of `count` properties of 1,000 bytes each. */
const longNames = (count: number) =>
  Array.from({ length: count }, (_, index) => `<p${index} xmlns="${'u'.repeat(970)}"/>`).join('');

const ALL = ['/documents/c/', '/documents/c/a.txt', '/documents/c/d/'];
const DEEP = '/documents/c/d/%C3%A9%20%26%3C%25.json';

describe('RFC 4918 section 9.1: depth', () => {
  test.each([
    ['0', ALL.slice(0, 1)],
    ['1', ALL],
    ['infinity', [...ALL, DEEP]],
    ['Infinity', [...ALL, DEEP]],
    [undefined, [...ALL, DEEP]],
  ])('PROPFIND with %s of a collection, with a slash or without', async (depth, hrefs) => {
    for (const path of ['/documents/c/', '/documents/c']) {
      const reply = await propfind(path, depth);
      expect([...propertiesIn(reply).keys()].toSorted()).toEqual(hrefs.toSorted());
      expect(reply.headers.location).toBeUndefined();
    }
  });

  test.each(['0', '1', 'infinity'])(
    'PROPFIND with %s of a document has only the document',
    async (depth) => {
      expect([...propertiesIn(await propfind('/documents/c/a.txt', depth)).keys()]).toEqual([
        '/documents/c/a.txt',
      ]);
    },
  );

  test('PROPFIND of the root of the space has its members', async () => {
    expect([...propertiesIn(await propfind('/documents/', '1')).keys()]).toEqual([
      '/documents/',
      '/documents/c/',
    ]);
  });

  test.each(['2', '-1', '', 'one', '1,noroot', '0, 1', 'infinity '.repeat(2)])(
    'PROPFIND with Depth: %j is 400',
    async (depth) => {
      expect((await propfind('/documents/c/', depth)).status).toBe(400);
    },
  );

  test('PROPFIND with two depths is 400', async () => {
    const headers = { Depth: ['0', '1'] };
    expect((await rs.as('PROPFIND', '/documents/c/', { headers })).status).toBe(400);
  });

  test.each(['/documents/none', '/documents/none/', '/documents/c/a.txt/', '/documents/c/a.txt/b'])(
    'PROPFIND of a missing resource is 404, not 207: %s',
    async (path) => {
      expect((await propfind(path, '0')).status).toBe(404);
    },
  );
});

describe('RFC 4918 sections 9.1 and 14.20: forms of the request', () => {
  const keys = async (path: string, body?: string) =>
    [...([...propertiesIn(await propfind(path, '0', body)).values()][0] ?? [])].map(
      ([key, { status }]) => `${status} ${key}`,
    );
  const LIVE = ['creationdate', 'getlastmodified', 'resourcetype'];
  const LOCKS = ['supportedlock', 'lockdiscovery'];
  const OF_COLLECTION = [...LIVE, ...LOCKS];
  const OF_DOCUMENT = [...LIVE, 'getcontentlength', 'getcontenttype', 'getetag', ...LOCKS];
  const found = (names: readonly string[]) => names.map((name) => `200 {DAV:}${name}`);

  test('PROPFIND without content gives the same as allprop', async () => {
    for (const body of [undefined, '', ask('<D:allprop/>'), ask('<x/><D:allprop x="y"/>')]) {
      await expect(keys('/documents/c/', body)).resolves.toEqual(found(OF_COLLECTION));
      await expect(keys('/documents/c/a.txt', body)).resolves.toEqual(found(OF_DOCUMENT));
    }
  });

  test('RFC 4331 section 2: PROPFIND gives the quota only if it is named, and propname lists it', async () => {
    const quota = ['quota-available-bytes', 'quota-used-bytes'];
    const included = ask(
      '<D:allprop/><D:include><D:quota-available-bytes/><D:quota-used-bytes/></D:include>',
    );
    await expect(keys('/documents/c/', included)).resolves.toEqual(
      found([...OF_COLLECTION, ...quota]),
    );
    await expect(keys('/documents/c/', ask('<D:propname/>'))).resolves.toEqual(
      found([...OF_COLLECTION, ...quota]),
    );
    await expect(keys('/documents/c/a.txt', ask('<D:propname/>'))).resolves.toEqual(
      found(OF_DOCUMENT),
    );
  });

  test('section 9.1.4: propname gives names without values', async () => {
    const reply = await propfind('/documents/c/', '1', ask('<D:propname/>'));
    for (const properties of propertiesIn(reply).values()) {
      for (const { element } of properties.values()) expect(element.children).toEqual([]);
    }
  });

  test('section 9.1.2: each missing property is listed once with 404', async () => {
    const body = ask(
      '<D:prop><D:getetag/><x:y xmlns:x="DAV"/><D:getetag/><D:displayname/><none/><D:etag/></D:prop>',
    );
    await expect(keys('/documents/c/a.txt', body)).resolves.toEqual([
      '200 {DAV:}getetag',
      '404 {DAV}y',
      '404 {DAV:}displayname',
      '404 {}none',
      '404 {DAV:}etag',
    ]);
    await expect(keys('/documents/c/', body)).resolves.toContain('404 {DAV:}getetag');
  });

  test('section 14.8: a property in include is not listed twice', async () => {
    const body = ask('<D:include><D:getetag/><D:none/></D:include><D:allprop/>');
    await expect(keys('/documents/c/a.txt', body)).resolves.toEqual([
      ...found(OF_DOCUMENT),
      '404 {DAV:}none',
    ]);
  });

  test('PROPFIND of no property gives an empty response', async () => {
    await expect(keys('/documents/c/', ask('<D:prop/>'))).resolves.toEqual([]);
  });

  test.each([
    ['another element', '<D:propertyupdate xmlns:D="DAV:"/>', 422],
    ['another namespace', '<propfind xmlns="DAV"><allprop/></propfind>', 422],
    ['no question', ask(''), 422],
    ['a question nobody knows', ask('<D:allprops/><allprop/>'), 422],
    ['two questions', ask('<D:propname/><D:prop><D:getetag/></D:prop>'), 422],
    ['XML that ends early', '<D:propfind xmlns:D="DAV:"><D:allprop/>', 400],
    ['a namespace bound to nothing', '<D:propfind xmlns:D="DAV:" xmlns:x=""/>', 400],
    ['no XML', 'allprop', 400],
    ['a document type', `<!DOCTYPE a [<!ENTITY x "y">]>${ask('<D:allprop/>')}`, 400],
    ['an external entity', `<!DOCTYPE a SYSTEM "file:///etc/passwd">${ask('<D:allprop/>')}`, 403],
    [
      'too many names',
      ask(`<D:prop>${Array.from({ length: 257 }, (_, index) => `<p${index}/>`).join('')}</D:prop>`),
      413,
    ],
    ['too long names', ask(`<D:prop>${longNames(17)}</D:prop>`), 413],
    ['too long names besides', ask(`<D:allprop/><D:include>${longNames(17)}</D:include>`), 413],
    ['too much', ask(' '.repeat(1024 * 1024)), 413],
  ])('PROPFIND with %s is refused', async (_, body, status) => {
    expect((await propfind('/documents/c/', '0', body)).status).toBe(status);
  });

  test('PROPFIND with 16 KiB of names is answered', async () => {
    const reply = await propfind('/documents/c/', '1', ask(`<D:prop>${longNames(16)}</D:prop>`));
    for (const properties of propertiesIn(reply).values()) expect(properties.size).toBe(16);
  });

  test('PROPFIND with content of another type is 415', async () => {
    const headers = { Depth: '0', 'Content-Type': 'application/json' };
    const reply = await rs.as('PROPFIND', '/documents/c/', { headers, body: '{}' });
    expect(reply.status).toBe(415);
    expect(reply.headers.accept).toBe('application/xml, text/xml');
  });
});

describe('RFC 4918 section 15: live properties', () => {
  const valuesOf = async (path: string, ...names: readonly string[]) => {
    const body = ask(`<D:prop>${names.map((name) => `<D:${name}/>`).join('')}</D:prop>`);
    const [properties] = propertiesIn(await propfind(path, '0', body)).values();
    return Object.fromEntries(
      [...(properties ?? [])].map(([, { element }]) => [element.name, textOf(element)]),
    );
  };

  test('live properties equal the fields of GET', async () => {
    const { headers } = await rs.as('HEAD', '/documents/c/a.txt');
    const names = ['getetag', 'getcontentlength', 'getcontenttype', 'getlastmodified'];
    await expect(valuesOf('/documents/c/a.txt', ...names)).resolves.toEqual({
      getetag: headers.etag,
      getcontentlength: '4',
      getcontenttype: 'text/plain; charset="utf-8"',
      getlastmodified: headers['last-modified'],
    });
  });

  test('section 15.1: creationdate stays when the content changes', async () => {
    const made = new Date(rs.clock.now()).toISOString();
    await rs.as('PUT', '/documents/made', { body: 'a' });
    rs.clock.advance(30);
    await rs.as('PUT', '/documents/made', { body: 'b' });
    const { creationdate, getlastmodified } = await valuesOf(
      '/documents/made',
      'creationdate',
      'getlastmodified',
    );
    expect(creationdate).toBe(made);
    expect(getlastmodified).toBe(new Date(rs.clock.now()).toUTCString());
    await rs.as('DELETE', '/documents/made');
  });

  test('sections 15.1 and 15.7: a root that was never changed has no dates', async () => {
    const body = ask('<D:prop><D:creationdate/><D:getlastmodified/></D:prop>');
    const reply = await propfind('/documents/', '0', body);
    const [properties] = propertiesIn(reply).values();
    expect([...(properties ?? [])].map(([key, { status }]) => `${status} ${key}`)).toEqual([
      '404 {DAV:}creationdate',
      '404 {DAV:}getlastmodified',
    ]);
    for (const question of [undefined, ask('<D:propname/>')]) {
      const { text } = await propfind('/documents/', '0', question);
      expect(text).not.toMatch(/creationdate|getlastmodified|1970/);
    }
  });

  test('RFC 4331: used and available bytes are those of the whole tree', async () => {
    await expect(
      valuesOf('/documents/c/d/', 'quota-used-bytes', 'quota-available-bytes'),
    ).resolves.toEqual({ 'quota-used-bytes': '6', 'quota-available-bytes': '994' });
  });

  test('section 15.8: only the owner of a lock sees its owner element and token', async () => {
    const owner = '<D:owner xmlns:x="u"><x:who>Jane &amp; &lt;John></x:who></D:owner>';
    const body =
      `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>` +
      `<D:locktype><D:write/></D:locktype>${owner}</D:lockinfo>`;
    const headers = { Depth: 'infinity', Timeout: 'Second-60' };
    const locked = await rs.as('LOCK', '/documents/c/d', { headers, body });
    const token = /<(.*)>/.exec(String(locked.headers['lock-token']))?.[1] ?? 'none';
    rs.clock.advance(10);

    const question = ask('<D:prop><D:lockdiscovery/></D:prop>');
    const own = await propfind(DEEP, '0', question);
    expect(own.text).toContain(
      '<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:exclusive/></D:lockscope>' +
        '<D:depth>infinity</D:depth>' +
        '<D:owner xmlns:D="DAV:" xmlns:x="u"><x:who>Jane &amp; &lt;John&gt;</x:who></D:owner>' +
        '<D:timeout>Second-50</D:timeout>' +
        `<D:locktoken><D:href>${token}</D:href></D:locktoken>` +
        '<D:lockroot><D:href>/documents/c/d/</D:href></D:lockroot></D:activelock>',
    );

    const other = rs.token('documents:read', { sub: 'other', client_id: 'other' });
    const seen = await rs.ask('PROPFIND', DEEP, {
      headers: { Depth: '0', Authorization: `Bearer ${other}` },
      body: question,
    });
    expect(seen.text).toContain('<D:lockroot><D:href>/documents/c/d/</D:href></D:lockroot>');
    expect(seen.text).not.toContain(token);
    expect(seen.text).not.toContain('Jane');

    rs.clock.advance(51);
    expect((await propfind(DEEP, '0', question)).text).toContain('<D:lockdiscovery/>');
  });
});

describe('conditions', () => {
  test.each([
    ['RFC 4918 section 10.4: If that is not met', { If: '(["none"])' }, 412],
    ['If that is met', { If: '(Not <DAV:no-lock>)' }, 207],
    ['If that is malformed', { If: '(' }, 400],
    ['RFC 9110 section 13.1.1: If-Match of another content', { 'If-Match': '"none"' }, 412],
  ])('conditions of PROPFIND are evaluated: %s', async (_, fields, status) => {
    const headers = { Depth: '0', ...fields };
    expect((await rs.as('PROPFIND', '/documents/c/a.txt', { headers })).status).toBe(status);
  });
});

describe('large collections', () => {
  test('RFC 4918 section 9.1.1: PROPFIND lists 5,000 resources at any depth, and refuses more', async () => {
    const { trees } = rs.stores;
    const { locksVersion } = await trees.look('/documents', []);
    const common = { revision: 'r', created: 0, modified: 0, properties: {} };
    const document = { ...common, kind: 'document', type: 'a/b', length: 0, file: 'f' } as const;
    const entries = Array.from({ length: 4998 }, (_, index) => ({
      ...document,
      path: `many/below/${index}`,
      etag: `${index}`,
    }));
    const collection = { ...common, kind: 'collection' } as const;
    const collections = [
      { ...collection, path: 'many' },
      { ...collection, path: 'many/below' },
    ];
    const committed = await trees.commit('/documents', {
      seen: new Map(),
      locksVersion,
      edits: [...collections, ...entries].map((entry) => ({ kind: 'put', entry }) as const),
      quota: { bytes: 1000, properties: 1000, entries: 10_000 },
    });
    expect(committed.kind).toBe('done');

    const question = ask('<D:prop><D:getetag/></D:prop>');
    const whole = await propfind('/documents/many/', 'infinity', question);
    const hrefs = [...whole.text.matchAll(/<D:href>(.*?)<\/D:href>/g)].map(([, href]) => href);
    expect(whole.text.endsWith('</D:multistatus>')).toBe(true);
    expect(hrefs).toHaveLength(5000);
    expect(new Set(hrefs)).toEqual(
      new Set([
        '/documents/many/',
        '/documents/many/below/',
        ...entries.map(({ path }) => `/documents/${path}`),
      ]),
    );

    await rs.as('PUT', '/documents/many/more', { body: '' });
    const refused = await propfind('/documents/many/', 'infinity', question);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>');
    const direct = await propfind('/documents/many/below/', '1', question);
    expect(direct.text.match(/<D:response>/g)).toHaveLength(4999);
  });

  test('PROPFIND reads page by page, and other requests are served in between', async () => {
    const reads: { limit: number; turn: number }[] = [];
    let turn = 0;
    await using large = await startResourceServer({}, (stores) => ({
      ...stores,
      trees: {
        ...stores.trees,
        members(tree, collection, after, limit) {
          reads.push({ limit, turn });
          return stores.trees.members(tree, collection, after, limit);
        },
      },
    }));
    await large.as('MKCOL', '/documents/c');
    const paths = Array.from({ length: 200 }, (_, index) => `/documents/c/${index}`);
    for (const path of paths) await large.as('MKCOL', path);

    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const reply = await large.as('PROPFIND', '/documents/c/', { headers: { Depth: 'infinity' } });
    clearImmediate(counting);
    expect(propertiesIn(reply).size).toBe(201);
    expect(reads.length).toBeGreaterThan(400);
    expect(Math.max(...reads.map(({ limit }) => limit))).toBeLessThanOrEqual(50);
    for (const [index, read] of reads.entries()) {
      if (index > 0) expect(read.turn).toBeGreaterThan(reads[index - 1]?.turn ?? 0);
    }
  });
});
