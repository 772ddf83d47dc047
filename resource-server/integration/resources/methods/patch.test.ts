import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../../resource-server.fixture.ts';
import { ACCEPT_PATCH } from '../../../resources/methods/patch.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const MEBIBYTE = 1024 * 1024;

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({ documents: { maxBytes: 20 * MEBIBYTE } });
});
afterAll(() => rs[Symbol.asyncDispose]());

let count = 0;
/** Creates a new document, and resolves to its path. */
async function stored(content: string | Buffer, type = 'application/json'): Promise<string> {
  count += 1;
  const path = `/documents/stored-${count}`;
  const reply = await rs.as('PUT', path, { headers: { 'Content-Type': type }, body: content });
  expect(reply.status).toBe(201);
  return path;
}

function patch(path: string, type: string, body: unknown, headers: OutgoingHttpHeaders = {}) {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return rs.as('PATCH', path, {
    headers: { 'Content-Type': type, ...headers },
    body: content,
  });
}

async function contentOf(path: string): Promise<string> {
  const { status, text } = await rs.as('GET', path);
  expect(status).toBe(200);
  return text;
}

const rowOf = (path: string) => rs.stores.trees.get('/documents', path.slice('/documents/'.length));

describe('RFC 5789 section 2: a JSON document', () => {
  test.each([
    [JSON_PATCH, [{ op: 'add', path: '/b', value: 2 }]],
    [MERGE_PATCH, { b: 2 }],
    [`${MERGE_PATCH}; charset=utf-8`, { b: 2 }],
    [MERGE_PATCH.toUpperCase(), { b: 2 }],
  ])('a PATCH with %s is 204 with the validators of the new state', async (type, body) => {
    const path = await stored('{"a":1}');
    const before = await rs.as('GET', path);
    rs.clock.advance(2);
    const reply = await patch(path, type, body);
    expect(reply.status).toBe(204);
    expect(reply.text).toBe('');
    const after = await rs.as('GET', path);
    expect(after.text).toBe('{"a":1,"b":2}');
    expect(reply.headers.etag).toBe(after.headers.etag);
    expect(reply.headers.etag).not.toBe(before.headers.etag);
    expect(reply.headers['last-modified']).toBe(after.headers['last-modified']);
    expect(reply.headers['last-modified']).not.toBe(before.headers['last-modified']);
  });

  test('a patched document keeps its type, its dead properties and its creation date', async () => {
    const path = await stored('{}', 'application/vnd.example+json; v="1"');
    const row = await rowOf(path);
    if (row === undefined) throw new Error('no row');
    const properties = { '{urn:example}colour': '<c xmlns="urn:example">red</c>' };
    await rs.stores.trees.commit('/documents', {
      seen: new Map([[row.path, row.revision]]),
      locksVersion: (await rs.stores.trees.look('/documents', [])).locksVersion,
      edits: [{ kind: 'put', entry: { ...row, properties, revision: 'with-properties' } }],
      quota: { bytes: 1e9, entries: 1e6, properties: 1e6 },
    });
    rs.clock.advance(10);
    expect((await patch(path, MERGE_PATCH, { a: 1 })).status).toBe(204);
    expect(await rowOf(path)).toMatchObject({
      type: 'application/vnd.example+json; v="1"',
      created: row.created,
      modified: row.modified + 10_000,
      length: 7,
      properties,
    });
  });

  test('PATCH keeps every digit of other numbers', async () => {
    const path = await stored('{ "id": 9007199254740993, "price": 1.50 }');
    expect((await patch(path, MERGE_PATCH, { name: 'é' })).status).toBe(204);
    expect(await contentOf(path)).toBe('{"id":9007199254740993,"price":1.50,"name":"é"}');
  });

  test('OPTIONS names the patch formats (section 3.1)', async () => {
    const { headers } = await rs.as('OPTIONS', await stored('{}'));
    expect(headers['accept-patch']).toBe(`${JSON_PATCH}, ${MERGE_PATCH}`);
    expect(headers['accept-patch']).toBe(ACCEPT_PATCH);
    expect(headers.allow?.split(', ')).toContain('PATCH');
  });
});

describe('RFC 5789 section 2: a document that is missing', () => {
  test.each([
    [MERGE_PATCH, { a: 1, b: null }, '{"a":1}'],
    [MERGE_PATCH, '"text"', '"text"'],
    [
      JSON_PATCH,
      [
        { op: 'add', path: '', value: [] },
        { op: 'add', path: '/-', value: 1 },
      ],
      '[1]',
    ],
  ])('a PATCH with %s %j creates a missing document: 201', async (type, body, content) => {
    count += 1;
    const path = `/documents/made-${count}`;
    const reply = await patch(path, type, body);
    expect(reply.status).toBe(201);
    expect(reply.headers.location).toBe(`${RESOURCE}${path}`);
    const { text, headers } = await rs.as('GET', path);
    expect(text).toBe(content);
    expect(headers['content-type']).toBe('application/json');
    expect(headers.etag).toBe(reply.headers.etag);
  });

  test('a patch that does not apply to a missing document is 404 (section 2.2)', async () => {
    const body = [{ op: 'add', path: '/a', value: 1 }];
    expect((await patch('/documents/missing', JSON_PATCH, body)).status).toBe(404);
    expect((await rs.as('GET', '/documents/missing')).status).toBe(404);
  });

  test('RFC 4918 section 9.7.1: PATCH of a document without its collection is 409', async () => {
    expect((await patch('/documents/none/new', MERGE_PATCH, {})).status).toBe(409);
    const below = `${await stored('{}')}/new`;
    expect((await patch(below, MERGE_PATCH, {})).status).toBe(409);
  });
});

describe('RFC 5789 section 2.2: 415 with Accept-Patch', () => {
  test.each([
    'application/json',
    'application/json-patch',
    'application/json-patch+xml',
    'application/json-patch+json2',
    'application/merge-patch+json-seq',
    'text/plain',
    'constructor/prototype',
  ])('a PATCH with the type %s is 415', async (type) => {
    const path = await stored('{"a":1}');
    const reply = await patch(path, type, '{"b":1}');
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-patch']).toBe(ACCEPT_PATCH);
    expect(await contentOf(path)).toBe('{"a":1}');
  });

  test('a PATCH without Content-Type is 415, and no type is guessed', async () => {
    const reply = await rs.as('PATCH', await stored('{"a":1}'), { body: '{"b":1}' });
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-patch']).toBe(ACCEPT_PATCH);
  });

  test('RFC 9110 section 8.4: a PATCH with a content coding is 415', async () => {
    const headers = { 'Content-Encoding': 'gzip' };
    const reply = await patch(await stored('{}'), MERGE_PATCH, gzipSync('{"b":1}'), headers);
    expect(reply.status).toBe(415);
    expect(reply.headers['accept-encoding']).toBe('identity');
  });
});

describe('RFC 5789 section 2.2: a refused patch changes nothing', () => {
  test.each([
    ['no content', JSON_PATCH, '', 400],
    ['half a patch', JSON_PATCH, '[{"op":"add","path":"/b","value":1}', 400],
    ['not UTF-8', MERGE_PATCH, Buffer.from([0x22, 0xff, 0x22]), 400],
    ['a name that comes twice', MERGE_PATCH, '{"b":1,"b":2}', 400],
    ['two op members', JSON_PATCH, '[{"op":"test","path":"/a","value":1,"op":"remove"}]', 400],
    ['no operations', JSON_PATCH, '{"b":1}', 400],
    ['an unknown operation', JSON_PATCH, '[{"op":"spam","path":"/a"}]', 422],
    ['a deep patch', MERGE_PATCH, `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 422],
    ['nothing left', JSON_PATCH, '[{"op":"remove","path":""}]', 422],
    [
      'a failed test, last',
      JSON_PATCH,
      '[{"op":"remove","path":"/a"},{"op":"test","path":"","value":1}]',
      409,
    ],
    [
      'a missing path, last',
      JSON_PATCH,
      '[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]',
      409,
    ],
    ['a patch over 1 MiB', MERGE_PATCH, JSON.stringify({ b: 'x'.repeat(MEBIBYTE) }), 413],
  ])('a refused PATCH changes nothing: %s', async (_, type, body, status) => {
    const path = await stored('{"a":1}');
    const { headers } = await rs.as('GET', path);
    expect((await patch(path, type, body)).status).toBe(status);
    const after = await rs.as('GET', path);
    expect(after.text).toBe('{"a":1}');
    expect(after.headers.etag).toBe(headers.etag);
  });

  test('a patch of unknown length is 413 once it exceeds 1 MiB', async () => {
    const body = Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(65_536, ' ')));
    const headers = { 'Content-Type': MERGE_PATCH };
    const reply = await rs.as('PATCH', await stored('{}'), { headers, body });
    expect(reply.status).toBe(413);
  });

  test('a result over 4 MiB, by copies of one long string, is 413', async () => {
    const path = await stored(JSON.stringify({ a: 'x'.repeat(MEBIBYTE) }));
    const body = Array.from({ length: 4 }, (_, n) => ({ op: 'copy', from: '/a', path: `/${n}` }));
    expect((await patch(path, JSON_PATCH, body)).status).toBe(413);
    expect(await rowOf(path)).toMatchObject({ length: MEBIBYTE + 8 });
  });

  test('a result longer than the longest document is 413', async () => {
    await using small = await startResourceServer({ documents: { maxBytes: 100 } });
    const headers = { 'Content-Type': MERGE_PATCH };
    const body = JSON.stringify({ a: 'x'.repeat(100) });
    expect((await small.as('PATCH', '/documents/a', { headers, body })).status).toBe(413);
    expect((await small.as('GET', '/documents/a')).status).toBe(404);
  });

  test.each([
    ['empty', ''],
    ['cut short', '{"a":1'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['with a name that comes twice, one of which would be lost', '{"a":1,"a":2}'],
  ])('PATCH of a document whose type is JSON but that is %s is 409', async (_, content) => {
    const path = await stored(content);
    const reply = await patch(path, MERGE_PATCH, { b: 1 });
    expect(reply.status).toBe(409);
    expect(reply.text).toContain('not JSON');
    expect(await contentOf(path)).toBe(content.toString());
  });

  test('RFC 9110 section 15.5.6: PATCH of a document that is not JSON is 405', async () => {
    const text = await patch(await stored('{}', 'text/plain'), MERGE_PATCH, { a: 1 });
    expect(text.status).toBe(405);
    expect(text.headers.allow?.split(', ')).not.toContain('PATCH');
    expect((await patch('/documents/', MERGE_PATCH, { a: 1 })).status).toBe(405);
  });
});

describe('RFC 9110 section 13: conditions', () => {
  test.each([
    [{ 'If-Match': '"other"' }],
    [{ 'If-None-Match': '*' }],
    [{ 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    [{ If: '(["other"])' }],
  ])('a PATCH with %j is 412, even if it would not apply', async (headers) => {
    const path = await stored('{"a":1}');
    const body = [{ op: 'remove', path: '/missing' }];
    expect((await patch(path, JSON_PATCH, body, headers)).status).toBe(412);
    expect((await patch(path, MERGE_PATCH, {}, headers)).status).toBe(412);
    expect(await contentOf(path)).toBe('{"a":1}');
  });

  test('PATCH of a missing document with If-Match is 412, and creates nothing', async () => {
    const reply = await patch('/documents/absent', MERGE_PATCH, {}, { 'If-Match': '*' });
    expect(reply.status).toBe(412);
    expect((await rs.as('GET', '/documents/absent')).status).toBe(404);
  });

  test('a PATCH with the current entity tag in If-Match succeeds once', async () => {
    const path = await stored('{"n":1}');
    const { etag = '' } = (await rs.as('GET', path)).headers;
    const headers = { 'If-Match': etag };
    expect((await patch(path, MERGE_PATCH, { n: 2 }, headers)).status).toBe(204);
    expect((await patch(path, MERGE_PATCH, { n: 3 }, headers)).status).toBe(412);
    expect(await contentOf(path)).toBe('{"n":2}');
  });
});

test('RFC 4918 section 7: PATCH of a locked document without its token is 423', async () => {
  const path = await stored('{"a":1}');
  const lock = await rs.as('LOCK', path, {
    body: '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>',
    headers: { 'Content-Type': 'application/xml' },
  });
  expect(lock.status).toBe(200);
  expect((await patch(path, MERGE_PATCH, { a: 2 })).status).toBe(423);
  expect(await contentOf(path)).toBe('{"a":1}');
  const headers = { If: `(${lock.headers['lock-token']?.toString() ?? ''})` };
  expect((await patch(path, MERGE_PATCH, { a: 3 }, headers)).status).toBe(204);
  expect(await contentOf(path)).toBe('{"a":3}');
});

describe('RFC 5789 section 2: eight at once', () => {
  const eight = Array.from({ length: 8 }, (_, index) => index);
  const statuses = (replies: readonly { readonly status: number }[]) =>
    replies.map(({ status }) => status).toSorted((a, b) => a - b);

  test('eight concurrent PATCHes that add to a list are all in the list', async () => {
    const path = await stored('{"list":[]}');
    const replies = await Promise.all(
      eight.map((value) => patch(path, JSON_PATCH, [{ op: 'add', path: '/list/-', value }])),
    );
    expect(statuses(replies)).toStrictEqual(eight.map(() => 204));
    expect(new Set(replies.map(({ headers }) => headers.etag)).size).toBe(8);
    const { list } = JSON.parse(await contentOf(path)) as { list: number[] };
    expect(list.toSorted((a, b) => a - b)).toStrictEqual(eight);
  });

  test('one of eight concurrent PATCHes with equal If-Match is 204, and seven are 412', async () => {
    const path = await stored('{"n":-1}');
    const { etag = '' } = (await rs.as('GET', path)).headers;
    const replies = await Promise.all(
      eight.map((n) => patch(path, MERGE_PATCH, { n }, { 'If-Match': etag })),
    );
    expect(statuses(replies)).toStrictEqual([204, ...eight.slice(1).map(() => 412)]);
    const winner = replies.findIndex(({ status }) => status === 204);
    expect(await contentOf(path)).toBe(`{"n":${winner}}`);
  });

  test('one of eight concurrent PATCHes of a missing document is 201, and the document has all their members', async () => {
    const path = '/documents/raced';
    const replies = await Promise.all(eight.map((n) => patch(path, MERGE_PATCH, { [`m${n}`]: n })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(7);
    expect(Object.keys(JSON.parse(await contentOf(path)) as object)).toHaveLength(8);
  });

  test('one of eight concurrent PATCHes that test and change a member succeeds', async () => {
    const path = await stored('{"turn":0}');
    const body = [
      { op: 'test', path: '/turn', value: 0 },
      { op: 'replace', path: '/turn', value: 1 },
    ];
    const replies = await Promise.all(eight.map(() => patch(path, JSON_PATCH, body)));
    expect(statuses(replies)).toStrictEqual([204, ...eight.slice(1).map(() => 409)]);
  });

  test('concurrent PATCHes, a PUT and a DELETE leave a complete document or none', async () => {
    const path = await stored('{"list":[]}');
    const replies = await Promise.all([
      ...eight.map((n) => patch(path, JSON_PATCH, [{ op: 'add', path: '/list/-', value: n }])),
      rs.as('PUT', path, {
        headers: { 'Content-Type': 'application/json' },
        body: '{"list":["put"]}',
      }),
      rs.as('DELETE', path),
    ]);
    for (const { status } of replies) expect([201, 204, 404]).toContain(status);
    const after = await rs.as('GET', path);
    if (after.status === 404) return;
    expect((JSON.parse(after.text) as { list: unknown[] }).list).toContain('put');
  });

  test('concurrent PATCHes leave one content for each document', async () => {
    expect(new Set(await rs.contents())).toStrictEqual(await rs.named());
  });
});

describe('RFC 5789 section 2: another process changes the document before the result is stored', () => {
  let overtake: () => Promise<unknown>;
  let busy = false;
  let raced: TestResourceServer;
  beforeAll(async () => {
    raced = await startResourceServer({}, (stores) => ({
      ...stores,
      trees: {
        ...stores.trees,
        async commit(tree, change) {
          if (!busy) {
            busy = true;
            await overtake();
            busy = false;
          }
          return stores.trees.commit(tree, change);
        },
      },
    }));
  });
  afterAll(() => raced[Symbol.asyncDispose]());

  const PATH = '/documents/raced';
  const put = (content: string, type = 'application/json') =>
    raced.as('PUT', PATH, { headers: { 'Content-Type': type }, body: content });
  /** Patches `{"a":1}`, while another process changes it `times` times before the commit. */
  async function patchOvertaken(
    { times = 1, by }: { times?: number; by: () => Promise<unknown> },
    call: { headers: OutgoingHttpHeaders; body: string },
  ) {
    overtake = async () => {};
    await put('{"a":1}');
    let left = times;
    overtake = async () => {
      left -= 1;
      if (left >= 0) await by();
    };
    return raced.as('PATCH', PATH, call);
  }
  const merge = { headers: { 'Content-Type': MERGE_PATCH }, body: '{"b":2}' };
  const append = {
    headers: { 'Content-Type': JSON_PATCH },
    body: '[{"op":"add","path":"/b","value":2}]',
  };

  test.each([
    ['merge patch', merge],
    ['JSON patch', append],
  ])(
    'a %s is applied again to the document that another process changed, three times',
    async (_, call) => {
      let n = 0;
      const by = () => put(`{"n":${(n += 1)}}`);
      expect((await patchOvertaken({ times: 3, by }, call)).status).toBe(204);
      expect((await raced.as('GET', PATH)).text).toBe('{"n":3,"b":2}');
    },
  );

  test('equal content with another entity tag is another state: 412 with If-Match', async () => {
    overtake = async () => {};
    await put('{"a":1}');
    const { etag = '' } = (await raced.as('GET', PATH)).headers;
    overtake = () => put('{"a":1}');
    const headers = { ...merge.headers, 'If-Match': etag };
    expect((await raced.as('PATCH', PATH, { ...merge, headers })).status).toBe(412);
    expect((await raced.as('GET', PATH)).text).toBe('{"a":1}');
  });

  test('properties that another process sets again and again do not delay a PATCH, and are kept', async () => {
    let n = 0;
    const by = async () => {
      n += 1;
      const reply = await raced.as('PROPPATCH', PATH, {
        headers: { 'Content-Type': 'application/xml' },
        body: `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><n xmlns="urn:example">${n}</n></D:prop></D:set></D:propertyupdate>`,
      });
      expect(reply.status).toBe(207);
    };
    expect((await patchOvertaken({ times: 20, by }, merge)).status).toBe(204);
    expect((await raced.as('GET', PATH)).text).toBe('{"a":1,"b":2}');
    const row = await raced.stores.trees.get('/documents', 'raced');
    expect(row?.properties['{urn:example}n']).toContain('>20<');
  });

  test('a document removed during a PATCH is created again, or the patch is 404', async () => {
    const by = () => raced.as('DELETE', PATH);
    expect((await patchOvertaken({ by }, append)).status).toBe(404);
    expect((await raced.as('GET', PATH)).status).toBe(404);
    expect((await patchOvertaken({ by }, merge)).status).toBe(201);
    expect((await raced.as('GET', PATH)).text).toBe('{"b":2}');
  });

  test('PATCH of a document that is no longer JSON is 405, and leaves it unchanged', async () => {
    const reply = await patchOvertaken({ by: () => put('text', 'text/plain') }, merge);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow?.split(', ')).not.toContain('PATCH');
    expect((await raced.as('GET', PATH)).text).toBe('text');
  });

  test('PATCH is 503 after ten changes by another process, and changes nothing', async () => {
    let times = 0;
    const by = () => {
      times += 1;
      return put('{"a":1}');
    };
    const reply = await patchOvertaken({ times: Infinity, by }, merge);
    expect(reply.status).toBe(503);
    expect(times).toBe(10);
    expect(reply.headers['retry-after']).toBe('1');
    expect((await raced.as('GET', PATH)).text).toBe('{"a":1}');
  });

  test('a PATCH leaves no content of failed tries', async () => {
    expect(new Set(await raced.contents())).toStrictEqual(await raced.named());
  });
});
