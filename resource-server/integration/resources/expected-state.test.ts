import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ask } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../resource-server.fixture.ts';
import { clientsOf, LOCK_INFO, tokenOf } from './webdav/locking.fixture.ts';

let rs: TestResourceServer;
let alice: ReturnType<typeof clientsOf>['alice'];
let bob: typeof alice;
let lock: ReturnType<typeof clientsOf>['lock'];
beforeAll(async () => {
  rs = await startResourceServer();
  ({ alice, bob, lock } = clientsOf(rs));
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `guard-${++made}`;
const put = async (path: string, If?: string) =>
  (await alice('PUT', path, If === undefined ? {} : { If }, 'new')).status;

/** Creates a document, and locks it exclusively for alice. Returns its path, its entity tag and the lock's token. */
async function locked(path = fresh()) {
  const { headers } = await alice('PUT', path, {}, 'old');
  const token = tokenOf(await lock(alice, path));
  return { path, etag: String(headers.etag), token };
}

describe('RFC 4918 section 10.4: If', () => {
  test.each<[title: string, field: (etag: string, token: string) => string, met: boolean]>([
    ['the token', (_etag, token) => `(${token})`, true],
    ['the token and the entity tag', (etag, token) => `(${token} [${etag}])`, true],
    ['10.4.3: one of two lists', (etag, token) => `(${token} ["x"]) ([${etag}])`, true],
    ['10.4.3: no list of two', (etag, token) => `(${token} ["x"]) (Not [${etag}])`, false],
    ['10.4.3: one of two conditions in a list', (etag, token) => `([${etag}] Not ${token})`, false],
    ['10.4.4: a weak entity tag', (etag, token) => `(${token} [W/${etag}])`, false],
    ['10.4.8: what is always true', (_etag, token) => `(${token} ["x"]) (Not <DAV:no-lock>)`, true],
    ['DAV:no-lock is no lock', (etag, token) => `(${token} [${etag}] <DAV:no-lock>)`, false],
    ['a token that differs in case', (_etag, token) => `(${token.toUpperCase()})`, false],
  ])('the If field %s is evaluated: case %#', async (_title, field, met) => {
    const { path, etag, token } = await locked();
    expect(await put(path, field(etag, token))).toBe(met ? 204 : 412);
  });

  test('10.4.4: a tagged list is about the resource of its tag', async () => {
    const { path, etag, token } = await locked();
    const other = await locked();
    const absolute = `https://rs.example/documents/${path}`;
    for (const [field, status] of [
      [`</documents/${path}> (${token} [${etag}])`, 204],
      [`</documents/${other.path}> ([${other.etag}]) </documents/${path}> (${token} ["x"])`, 204],
      [`</documents/${other.path}> (${token})`, 412],
      [`</documents/${other.path}> (Not ${token})`, 204],
      [`<${absolute}> (${token})`, 204],
      [`<${absolute.replace('https', 'HTTPS').replace('rs.', 'RS.')}> (${token})`, 204],
      [`<${absolute.replace('.example', '.example:443')}> (${token})`, 204],
    ] as const) {
      expect([field, await put(path, field)]).toEqual([field, status]);
    }
  });

  test.each([
    'https://evil.example/documents/PATH',
    'http://rs.example/documents/PATH',
    'https://rs.example:8443/documents/PATH',
    'https://rs.example.evil.example/documents/PATH',
    'https://user@rs.example/documents/PATH',
    '//rs.example/documents/PATH',
    '/hidden/PATH',
    '/dav/PATH',
    '/PATH',
    '/documents/../documents/PATH',
    '/documents/x%2F..%2FPATH',
    '/documents/%00PATH',
    '/documents/PATH?query',
    `/documents/${'x'.repeat(300)}`,
    'urn:uuid:PATH',
  ])('10.4.4: a resource that %s names has no state in this tree', async (reference) => {
    const { path, token } = await locked();
    const tag = `<${reference.replace('PATH', path)}>`;
    expect(await put(path, `${tag} (${token})`)).toBe(412);
    expect(await put(path, `${tag} (Not ${token})`)).toBe(204);
  });

  test.each(['http://99999999999999999999/a', 'http://e%00vil/x', 'https://1.2.3.4.5.6/'])(
    'RFC 3986 section 3.2.2: %s has an invalid host, and is 400 in If and in Destination',
    async (url) => {
      const path = fresh();
      await alice('PUT', path, {}, 'x');
      const reply = await alice('GET', path, { If: `<${url}> (<b:c>)` });
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('host')]);
      for (const method of ['COPY', 'MOVE']) {
        const went = await alice(method, path, { Destination: url });
        expect([went.status, went.text]).toEqual([400, expect.stringContaining('host')]);
      }
    },
  );

  test('10.4.4: a lock matches anywhere in its scope, and nowhere else', async () => {
    const path = fresh();
    await alice('MKCOL', path);
    await alice('PUT', `${path}/a`, {}, 'a');
    const token = tokenOf(await lock(alice, path));
    expect(await put(`${path}/a`, `(${token})`)).toBe(204);
    expect(await put(`${path}/b`, `(${token})`)).toBe(201);
    expect(await put(`${path}/c`, `</documents/${path}/> (${token})`)).toBe(201);
    expect(await put(fresh(), `(${token})`)).toBe(412);
    expect(await put(`${path}/a`, `</documents/> (${token})`)).toBe(412);
  });

  test('10.4.4: a resource of another server is not the root', async () => {
    const token = tokenOf(await lock(alice, '', { Depth: '0' }));
    for (const tag of ['<https://evil.example/>', '</>', '</hidden/>', '<urn:x>', '<//x/>']) {
      expect(await put(fresh(), `${tag} (${token})`)).toBe(412);
    }
    expect(await put(fresh(), `</documents/> (${token})`)).toBe(201);
    expect(await put(fresh(), `</documents> (${token})`)).toBe(201);
    await alice('UNLOCK', '', { 'Lock-Token': token });
  });

  test('10.4.11: a missing resource has no entity tag', async () => {
    expect(await put(fresh(), '(["4217"])')).toBe(412);
    expect(await put(fresh(), '(Not ["4217"])')).toBe(201);
  });

  test('a name in If means the same resource in either normal form', async () => {
    const name = fresh();
    const { token } = await locked(`${name}-%C3%A9`);
    expect(await put(`${name}-%C3%A9`, `</documents/${name}-e%CC%81> (${token})`)).toBe(204);
  });

  test.each(['', '()', '</documents/a>', '(<urn:x>', '<urn:x>', '(["x"]), (["y"])', '(</a>)'])(
    '10.4.2: the If field %j is 400, and nothing is done',
    async (field) => {
      const path = fresh();
      expect(await put(path, field)).toBe(400);
      expect((await alice('GET', path)).status).toBe(404);
    },
  );

  test('10.4.2: If may come only once', async () => {
    const { path, token } = await locked();
    const headers = { If: [`(${token})`, '(Not <DAV:no-lock>)'] };
    expect((await alice('PUT', path, headers, 'x')).status).toBe(400);
  });

  test('all of 256 conditions are checked, more are 400, and a longer field is 431', async () => {
    const { path, token } = await locked();
    expect(await put(path, `${'(["x"])'.repeat(255)} (${token})`)).toBe(204);
    expect(await put(path, '(["x"])'.repeat(256))).toBe(412);
    expect(await put(path, `${'(["x"])'.repeat(256)} (${token})`)).toBe(400);
    expect(await put(path, '(["x"])'.repeat(15_000))).toBe(431);
    const tags = Array.from({ length: 255 }, (_, index) => `</documents/n${index}> (["x"])`);
    expect(await put(path, `${tags.join(' ')} </documents/${path}> (${token})`)).toBe(204);
  });

  test('If applies to reading methods, too', async () => {
    const { path, token } = await locked();
    for (const method of ['GET', 'HEAD', 'PROPFIND']) {
      const headers = { Depth: '0' };
      expect((await bob(method, path, { ...headers, If: '(["x"])' })).status).toBe(412);
      expect((await bob(method, path, { ...headers, If: `(${token})` })).status).toBeLessThan(300);
    }
  });
});

describe('RFC 4918 sections 6.4 and 7.5: tokens', () => {
  test('a change without the token is 423 with the root of the lock; reading needs no token', async () => {
    const { path } = await locked();
    for (const [method, headers] of [
      ['PUT', {}],
      ['DELETE', {}],
      ['MOVE', { Destination: `/documents/${fresh()}` }],
      ['PROPPATCH', { 'Content-Type': 'application/xml' }],
    ] as const) {
      const body =
        method === 'PROPPATCH'
          ? '<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop><a/></D:prop></D:remove></D:propertyupdate>'
          : '';
      for (const client of [alice, bob]) {
        const reply = await client(method, path, headers, body);
        expect([method, reply.status]).toEqual([method, 423]);
        expect(reply.text).toContain(
          `<D:error xmlns:D="DAV:"><D:lock-token-submitted><D:href>/documents/${path}</D:href>`,
        );
      }
    }
    expect((await bob('GET', path)).text).toBe('old');
  });

  test("section 6.4: another person's token makes a condition true, but permits no change", async () => {
    const { path, token, etag } = await locked();
    const headers = { If: `(${token} [${etag}])` };
    expect((await bob('PUT', path, headers, 'x')).status).toBe(423);
    expect((await bob('DELETE', path, headers)).status).toBe(423);
    expect((await bob('GET', path)).text).toBe('old');
  });

  test('section 10.4.1: a token is accepted at any position of If', async () => {
    const { path, token } = await locked();
    expect(await put(path, `(Not <DAV:no-lock>) (${token} ["x"])`)).toBe(204);
    expect(await put(path, `(Not <DAV:no-lock>) (Not ${token})`)).toBe(204);
    expect(await put(path, `</hidden/x> (Not ${token})`)).toBe(204);
  });

  test('an invented token with any prefix permits no change', async () => {
    const { path, token } = await locked();
    for (const forged of [
      token.replace('>', 'x>'),
      token.replace('urn:uuid:', 'opaquelocktoken:'),
    ]) {
      expect(await put(path, `(${forged}) (Not <DAV:no-lock>)`)).toBe(423);
      expect(await put(path, `(${forged})`)).toBe(412);
    }
  });

  test('the token of an expired lock makes no condition true, and is not needed', async () => {
    const path = fresh();
    const token = tokenOf(await lock(alice, path, { Timeout: 'Second-10' }));
    rs.clock.advance(10);
    expect(await put(path, `(${token})`)).toBe(412);
    expect(await put(path)).toBe(204);
  });

  test('a token of another tree permits no change', async () => {
    const { path } = await locked();
    const token = rs.token('dav:write', { client_id: 'alice', sub: 'alice' });
    const own = await rs.ask('LOCK', `/dav/${path}`, {
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/xml' },
      body: LOCK_INFO(),
    });
    expect(own.status).toBe(201);
    expect(await put(path, `(${tokenOf(own)})`)).toBe(412);
    expect(await put(path, `(${tokenOf(own)}) (Not <DAV:no-lock>)`)).toBe(423);
    const tagged = `<https://rs.example/dav/${path}> (${tokenOf(own)}) (Not <DAV:no-lock>)`;
    expect(await put(path, tagged)).toBe(423);
  });

  test("section 6.2: the token of one of several shared locks suffices, if it is the client's own", async () => {
    const path = fresh();
    await alice('PUT', path, {}, 'x');
    const shared = { scope: 'shared' };
    const [mine, hers] = [
      tokenOf(await lock(alice, path, shared)),
      tokenOf(await lock(bob, path, shared)),
    ];
    expect(await put(path)).toBe(423);
    expect(await put(path, `(${hers})`)).toBe(423);
    expect(await put(path, `(${mine})`)).toBe(204);
    expect((await bob('PUT', path, { If: `(${hers})` }, 'x')).status).toBe(204);
  });

  test('section 7.4: a change of a locked member needs its token and the token of its collection', async () => {
    const path = fresh();
    await alice('MKCOL', path);
    const { token: inner } = await locked(`${path}/a`);
    const outer = tokenOf(await lock(alice, path, { Depth: '0' }));
    const both = `</documents/${path}/> (${outer}) </documents/${path}/a> (${inner})`;
    for (const [If, status] of [
      [undefined, 423],
      [`(${inner})`, 423],
      [`</documents/${path}/> (${outer})`, 423],
      [both, 204],
    ] as const) {
      const headers = If === undefined ? {} : { If };
      expect((await alice('DELETE', `${path}/a`, headers)).status).toBe(status);
    }
  });

  test('section 9.6.1: if only members are locked, DELETE is 207 and removes nothing', async () => {
    const path = fresh();
    await alice('MKCOL', path);
    const { token } = await locked(`${path}/a`);
    await alice('PUT', `${path}/b`, {}, 'b');
    const reply = await alice('DELETE', path);
    expect(reply.status).toBe(207);
    expect(reply.headers['content-type']).toBe('application/xml; charset="utf-8"');
    expect(reply.text).toContain(
      `<D:response><D:href>/documents/${path}/a</D:href><D:status>HTTP/1.1 423 Locked</D:status>` +
        '<D:error><D:lock-token-submitted/></D:error></D:response></D:multistatus>',
    );
    expect((await bob('GET', `${path}/b`)).text).toBe('b');
    const If = `</documents/${path}/a> (${token})`;
    expect((await bob('DELETE', path, { If })).status).toBe(207);
    expect((await alice('DELETE', path, { If })).status).toBe(204);
  });

  test('section 9.6: DELETE removes the locks of the deleted resources', async () => {
    const { path, token } = await locked();
    expect((await alice('DELETE', path, { If: `(${token})` })).status).toBe(204);
    expect((await bob('PUT', path, {}, 'x')).status).toBe(201);
    expect(await put(path, `(${token})`)).toBe(412);
  });
});

describe('RFC 9110 section 13: conditions beside locks', () => {
  test('If-Match is checked in addition to If, and before the lock tokens', async () => {
    const { path, etag, token } = await locked();
    const attempt = async (headers: Record<string, string>) =>
      (await alice('PUT', path, headers, 'new')).status;
    expect(await attempt({ 'If-Match': '"x"' })).toBe(412);
    expect(await attempt({ 'If-Match': '"x"', If: `(${token})` })).toBe(412);
    expect(await attempt({ 'If-Match': etag })).toBe(423);
    expect(await attempt({ 'If-None-Match': '*', If: `(${token})` })).toBe(412);
    expect(await attempt({ 'If-Match': 'x', If: `(${token})` })).toBe(412);
    expect(await attempt({ 'If-Match': etag, If: `(${token})` })).toBe(204);
  });

  test('section 13.1.1: a collection has an entity tag that cannot be guessed', async () => {
    const path = fresh();
    await alice('MKCOL', path);
    const attempt = async (headers: Record<string, string>) =>
      (await alice('DELETE', path, headers)).status;
    expect(await attempt({ 'If-Match': '""' })).toBe(412);
    expect(await attempt({ 'If-None-Match': '*' })).toBe(412);
    expect(await attempt({ 'If-Match': '*' })).toBe(204);
  });
});

test('RFC 4918 section 7: a request without credentials learns nothing about locks', async () => {
  const { path, token } = await locked();
  for (const headers of [{}, { If: `(${token})` }]) {
    const { status, text } = await ask(rs.listening.port, 'PUT', `/documents/${path}`, {
      headers,
      body: 'x',
    });
    expect(status).toBe(401);
    expect(text).not.toContain('lock');
  }
});

describe('RFC 9110 section 5.4: the conditions of If are counted before a resource is looked up', () => {
  test('conditions cause one look-up for each of 256 resources, and none for more than 256 conditions', async () => {
    let asked: string[] = [];
    await using other = await startResourceServer({}, (stores) => ({
      ...stores,
      trees: {
        ...stores.trees,
        look(tree, paths) {
          asked.push(...paths);
          return stores.trees.look(tree, paths);
        },
      },
    }));
    const { alice: carol } = clientsOf(other);
    await carol('PUT', 'a', {}, 'content');
    const lists = (length: number, path: (at: number) => string) =>
      Array.from({ length }, (_, at) => `</documents/${path(at)}>(["x"])`).join('');
    const named = async (method: string, field: string) => {
      asked = [];
      const { status, text } = await carol(method, 'a', { If: field });
      return { status, text, paths: asked.filter((path) => path.startsWith('of-if')) };
    };

    for (const method of ['GET', 'DELETE']) {
      const many = await named(
        method,
        lists(256, (at) => `of-if-${at}`),
      );
      expect(many).toMatchObject({ status: 412, paths: { length: 256 } });
      const equal = await named(
        method,
        lists(256, () => 'of-if'),
      );
      expect(equal).toMatchObject({ status: 412, paths: ['of-if'] });
      const beyond = await named(
        method,
        lists(257, () => 'of-if'),
      );
      expect(beyond).toMatchObject({ status: 400, paths: [] });
      expect(beyond.text).toContain('more than 256 conditions');
    }
  });
});

describe('RFC 9110 section 13.1.2: If-None-Match as Joplin sends it with every method but GET and HEAD', () => {
  const XML = { 'Content-Type': 'text/xml' };
  const PROPFIND =
    '<?xml version="1.0" encoding="UTF-8"?>\n<d:propfind xmlns:d="DAV:"><d:prop xmlns:oc="http://owncloud.org/ns"><d:getlastmodified/></d:prop></d:propfind>';

  test('MKCOL, PUT, PROPFIND, MOVE, LOCK, PATCH and DELETE succeed with a malformed If-None-Match', async () => {
    const folder = fresh();
    const joplin = async (...[method, path, headers, body]: Parameters<typeof alice>) => {
      const fields = { 'If-None-Match': 'JoplinIgnore-61825', ...headers };
      return (await alice(method, `${folder}/${path}`, fields, body)).status;
    };
    const note = { 'Content-Type': 'application/json' };
    expect(await joplin('MKCOL', '')).toBe(201);
    expect(await joplin('PUT', 'a', note, '{"a":1}')).toBe(201);
    expect(await joplin('PUT', 'a', note, '{"a":2}')).toBe(204);
    expect(await joplin('PROPFIND', '', { ...XML, Depth: 1 }, PROPFIND)).toBe(207);
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    expect(await joplin('PATCH', 'a', merge, '{"a":3}')).toBe(204);
    expect(await joplin('MOVE', 'a', { Destination: `/documents/${folder}/b` })).toBe(201);
    expect(await joplin('LOCK', 'c', XML, LOCK_INFO())).toBe(201);
    expect(await joplin('DELETE', 'b')).toBe(204);
    expect((await alice('GET', `${folder}/b`)).status).toBe(404);
  });
});
