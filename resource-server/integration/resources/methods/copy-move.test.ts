import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { clientsOf, tokenOf } from '../webdav/locking.fixture.ts';

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
const fresh = () => `copy-${++made}`;
const BOTH = ['COPY', 'MOVE'] as const;
const ten = Array.from({ length: 10 }, (_, index) => index);

async function document(path = fresh(), content = path): Promise<string> {
  expect((await alice('PUT', path, { 'Content-Type': 'text/plain' }, content)).status).toBe(201);
  return path;
}

/** Creates a collection with a document `a` and a collection `c` with a document `b`. */
async function tree(path = fresh()): Promise<string> {
  for (const name of [path, `${path}/c`]) await alice('MKCOL', name);
  await document(`${path}/a`);
  await document(`${path}/c/b`);
  return path;
}

const text = async (path: string) => {
  const { status, text: content } = await bob('GET', path);
  return status === 200 ? content : status;
};
const go = (
  method: string,
  from: string,
  to: string,
  headers: Record<string, string> = {},
): Promise<Reply> => alice(method, from, { Destination: `/documents/${to}`, ...headers });

describe('RFC 4918 sections 9.8 and 9.9: COPY and MOVE', () => {
  test('COPY and MOVE to a new address are 201 with Location; COPY leaves the source, and MOVE removes it', async () => {
    const [from, one, two] = [await document(), fresh(), fresh()];
    const before = await alice('GET', from);
    const copied = await go('COPY', from, one);
    expect(copied).toMatchObject({ status: 201, text: '' });
    expect(copied.headers.location).toBe(`https://rs.example/documents/${one}`);
    const moved = await go('MOVE', from, two);
    expect(moved.status).toBe(201);
    expect(await text(from)).toBe(404);
    for (const path of [one, two]) {
      const after = await alice('GET', path);
      expect(after.text).toBe(before.text);
      expect(after.headers['content-type']).toBe('text/plain');
    }
  });

  test('COPY and MOVE to an existing target are 204, and replace it with all its members', async () => {
    for (const method of BOTH) {
      const [from, to] = [await tree(), await tree()];
      await document(`${to}/old`);
      expect(await go(method, from, to)).toMatchObject({ status: 204, text: '' });
      expect(await text(`${to}/old`)).toBe(404);
      expect(await text(`${to}/c/b`)).toBe(`${from}/c/b`);
      expect(await text(`${from}/c/b`)).toBe(method === 'COPY' ? `${from}/c/b` : 404);
      const single = await document();
      expect((await go(method, single, to)).status).toBe(204);
      expect(await text(to)).toBe(single);
      expect(await text(`${to}/a`)).toBe(404);
    }
  });

  test('section 9.8.1: later changes of the source do not change the copy, and the reverse', async () => {
    const [from, to] = [await tree(), fresh()];
    await go('COPY', from, to);
    await alice('PUT', `${to}/c/b`, {}, 'changed');
    await alice('DELETE', `${from}/a`);
    expect(await text(`${from}/c/b`)).toBe(`${from}/c/b`);
    expect(await text(`${to}/a`)).toBe(`${from}/a`);
    await alice('DELETE', from);
    expect(await text(`${to}/c/b`)).toBe('changed');
  });

  test('section 9.8.2: dead properties are copied and moved, too', async () => {
    const body =
      '<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:p>value</x:p></D:prop></D:set></D:propertyupdate>';
    const [from, one, two] = [await tree(), fresh(), fresh()];
    await alice('PROPPATCH', `${from}/a`, { 'Content-Type': 'text/xml' }, body);
    await go('COPY', from, one);
    await go('MOVE', from, two);
    for (const path of [one, two]) {
      expect((await bob('PROPFIND', `${path}/a`, { Depth: '0' })).text).toContain('>value<');
    }
  });

  test('section 9.8.3: Depth: 0 copies a collection without its members', async () => {
    const [from, to] = [await tree(), await tree()];
    expect((await go('COPY', from, to, { Depth: '0' })).status).toBe(204);
    expect(JSON.parse((await alice('GET', `${to}/`)).text)).toMatchObject({ members: [] });
    expect((await go('COPY', from, `${from}/c/copy`, { Depth: '0' })).status).toBe(201);
    expect(await text(`${from}/c/copy/a`)).toBe(404);
  });

  test.each([
    ['COPY', '1', 400],
    ['MOVE', '0', 400],
    ['MOVE', '1', 400],
    ['COPY', '2', 400],
    ['MOVE', 'infinity, 0', 400],
    ['COPY', 'infinity', 201],
    ['MOVE', 'infinity', 201],
  ])('%s of a collection with Depth: %s is %d', async (method, depth, status) => {
    const from = await tree();
    expect((await go(method, from, fresh(), { Depth: depth })).status).toBe(status);
    expect(await text(`${from}/a`)).toBe(status === 201 && method === 'MOVE' ? 404 : `${from}/a`);
  });

  test('section 10.2: Depth is ignored for a document', async () => {
    const [from, to] = [await document(), fresh()];
    expect((await go('MOVE', from, to, { Depth: '0' })).status).toBe(201);
    expect(await text(to)).toBe(from);
  });

  test('section 10.6: with Overwrite: F an existing target gives 412, and stays', async () => {
    for (const method of BOTH) {
      const [from, to] = [await document(), await tree()];
      for (const overwrite of ['F', 'f']) {
        expect((await go(method, from, to, { Overwrite: overwrite })).status).toBe(412);
      }
      expect((await go(method, from, fresh(), { Overwrite: 'F' })).status).toBe(201);
      expect(await text(`${to}/a`)).toBe(`${to}/a`);
    }
  });

  test.each(['', 'true', 'T, F', 'TT'])('section 10.6: Overwrite: %j is 400', async (overwrite) => {
    const [from, to] = [await document(), fresh()];
    expect((await go('COPY', from, to, { Overwrite: overwrite })).status).toBe(400);
    expect(await text(to)).toBe(404);
  });

  test('a missing source and a document with a slash are 404', async () => {
    for (const method of BOTH) {
      expect((await go(method, fresh(), fresh())).status).toBe(404);
      expect((await go(method, `${await document()}/`, fresh())).status).toBe(404);
    }
  });

  test('the root as a source is 405', async () => {
    const { status, headers } = await go('MOVE', '', fresh());
    expect(status).toBe(405);
    expect(headers.allow).not.toMatch(/MOVE|COPY/);
  });

  test('section 9.8.5: a target without a parent collection is 409', async () => {
    for (const method of BOTH) {
      const from = await document();
      expect((await go(method, from, `${fresh()}/x`)).status).toBe(409);
      expect((await go(method, from, `${await document()}/x`)).status).toBe(409);
      expect(await text(from)).toBe(from);
    }
  });

  test('sections 9.8.5 and 9.9.4: a target that is the source, within it or above it is 403', async () => {
    for (const method of BOTH) {
      const from = await tree();
      for (const [source, to, status] of [
        [from, from, 403],
        [from, `${from}/`, 403],
        [`${from}/a`, `${from}/a`, 403],
        [`${from}/a`, `${from}/a/x`, 403],
        [from, `${from}/x`, 403],
        [from, `${from}/c`, 403],
        [from, `${from}/c/b`, 403],
        [from, `${from}/x/y`, 403],
        [`${from}/c/b`, from, 403],
        [`${from}/c/b`, `${from}/c/`, 403],
        [from, '', 403],
      ] as const) {
        expect([to, (await go(method, source, to)).status]).toEqual([to, status]);
      }
      expect((await go(method, `${from}/c/b`, from, { Overwrite: 'F' })).status).toBe(412);
      expect(await text(`${from}/c/b`)).toBe(`${from}/c/b`);
    }
  });

  test('a tree can be moved beside a tree whose name begins with its own name', async () => {
    const from = await tree();
    expect((await go('MOVE', from, `${from}x`)).status).toBe(201);
    expect(await text(`${from}x/c/b`)).toBe(`${from}/c/b`);
  });

  test('RFC 9110 section 13.1: conditions of COPY and MOVE apply to the source', async () => {
    const [from, to] = [await document(), await document()];
    const etag = String((await alice('GET', from)).headers.etag);
    expect((await go('MOVE', from, to, { 'If-Match': '"x"' })).status).toBe(412);
    expect((await go('MOVE', from, to, { 'If-None-Match': etag })).status).toBe(412);
    expect((await go('MOVE', from, to, { 'If-Match': etag })).status).toBe(204);
  });
});

describe('RFC 4918 section 8.8: Last-Modified of a URL does not go back', () => {
  const modified = async (path: string) =>
    String((await alice('GET', path)).headers['last-modified']);

  test.each(BOTH)(
    '%s of older content over newer content does not set Last-Modified back',
    async (method) => {
      const [from, to] = [await document(), fresh()];
      rs.clock.advance(60);
      await document(to);
      const seen = { 'If-Modified-Since': await modified(to) };
      expect((await alice('GET', to, seen)).status).toBe(304);
      rs.clock.advance(60);
      expect((await go(method, from, to)).status).toBe(204);
      expect(await alice('GET', to, seen)).toMatchObject({ status: 200, text: from });
      expect((await alice('GET', to, { 'If-Modified-Since': await modified(to) })).status).toBe(
        304,
      );
    },
  );

  test.each(BOTH)('%s of a collection includes all its members', async (method) => {
    const [from, to] = [await tree(), fresh()];
    rs.clock.advance(60);
    await tree(to);
    const seen = { 'If-Modified-Since': await modified(`${to}/c/b`) };
    rs.clock.advance(60);
    expect((await go(method, from, to)).status).toBe(204);
    for (const path of ['a', 'c/b']) {
      expect((await alice('GET', `${to}/${path}`, seen)).status).toBe(200);
    }
  });

  test('section 15.1: MOVE keeps DAV:creationdate, COPY gives a new one', async () => {
    const created = async (path: string) => {
      const reply = await bob('PROPFIND', path, { Depth: '0' });
      return /<D:creationdate>([^<]+)</.exec(reply.text)?.[1];
    };
    const [from, copied, moved] = [await document(), fresh(), fresh()];
    const before = await created(from);
    rs.clock.advance(60);
    await go('COPY', from, copied);
    await go('MOVE', from, moved);
    expect(before).toBeDefined();
    expect(await created(moved)).toBe(before);
    expect(await created(copied)).toBe(new Date(rs.clock.now()).toISOString());
  });
});

/** Encodes text in UTF-8, as one character for each octet. */
const octets = (plain: string) => Buffer.from(plain).toString('latin1');

describe('RFC 4918 section 10.3: Destination', () => {
  test('the host of the request is accepted in Destination, under any public name', async () => {
    const { port } = rs.listening;
    const from = await document();
    const copyTo = async (host: string) => {
      const Destination = `https://${host}/documents/${fresh()}`;
      return (await alice('COPY', from, { Destination })).status;
    };
    expect(await copyTo(`127.0.0.1:${port}`)).toBe(201);
    expect(await copyTo(`127.0.0.1:${port + 1}`)).toBe(502);
    expect(await copyTo('127.0.0.1')).toBe(502);
  });

  test.each([
    ['https://rs.example/documents/NEW', 201],
    ['HTTPS://RS.EXAMPLE:443/documents/NEW', 201],
    ['/documents/NEW', 201],
    ['/documents/NEW/', 201],
    ['/documents/%6e%65%77-NEW', 201],
    ['http://rs.example/documents/NEW', 502],
    ['https://rs.example:8443/documents/NEW', 502],
    ['https://evil.example/documents/NEW', 502],
    ['https://rs.example.evil.example/documents/NEW', 502],
    ['https://rs.example@evil.example/documents/NEW', 400],
    ['https://user:pass@rs.example/documents/NEW', 400],
    ['//evil.example/documents/NEW', 400],
    ['//rs.example/documents/NEW', 400],
    ['https:/documents/NEW', 400],
    ['https:///documents/NEW', 400],
    ['ftp://rs.example/documents/NEW', 400],
    ['file:///etc/passwd', 400],
    ['documents/NEW', 400],
    ['NEW', 400],
    ['*', 400],
    ['', 400],
    ['/documents/NEW?query', 400],
    ['/documents/NEW#fragment', 400],
    // Octets that clients such as git-annex do not escape. Node:http sends one octet for each character.
    ['/documents/a b NEW', 201],
    ['https://rs.example/documents/a b NEW/', 201],
    [octets('/documents/ü-日本-NEW'), 201],
    [octets('/documents/e\u0301 NEW'), 201],
    ['/documents/\xfc-NEW', 400],
    [octets('/documents/\u0085NEW'), 400],
    ['/documents/a b%20NEW', 400],
    ['/documents/100% NEW', 400],
    ['/documents/%zzNEW', 400],
    ['/documents/a\tbNEW', 400],
    ['/documents/a \\NEW', 400],
    ['/documents/a b/../NEW', 400],
    ['/documents/a b?NEW', 400],
    ['/documents/a b#NEW', 400],
    ['/hidden/a NEW', 403],
    ['https://rs .example/documents/NEW', 400],
    ['https://rs.example /documents/NEW', 400],
    ['https ://rs.example/documents/NEW', 400],
    [octets('https://rs.exämple/documents/NEW'), 502],
    ['/documents/x%2FNEW', 400],
    ['/documents/x%5CNEW', 400],
    ['/documents/../NEW', 400],
    ['/documents/%2e%2e/NEW', 400],
    ['/documents/./NEW', 400],
    ['/documents//NEW', 201],
    ['/documents/%00NEW', 400],
    ['/documents/%0d%0aNEW', 400],
    ['/documents/%FFNEW', 400],
    ['/documents/%', 400],
    [`/documents/${'x'.repeat(256)}`, 400],
    [`/documents/${'x/'.repeat(1000)}`, 400],
    ['/hidden/NEW', 403],
    ['/dav/NEW', 403],
    ['/documentsNEW', 403],
    ['/NEW', 403],
    ['/', 403],
    ['/documents', 403],
  ])('the Destination %.60s is %d', async (destination, status) => {
    const from = await document();
    const to = destination.replace('NEW', fresh());
    for (const method of BOTH) {
      const target = method === 'COPY' ? to : to.replace(/(\d+)(?=\/?$)/, '$1-moved');
      const reply = await alice(method, from, { Destination: target });
      expect([method, target, reply.status]).toEqual([method, target, status]);
      if (status !== 201) expect(await text(from)).toBe(from);
    }
  });

  test('an unescaped name in Destination means the same as its escaped form', async () => {
    const [from, to] = [await document(), fresh()];
    await go('MOVE', from, octets(`${to} ü`));
    expect(await text(`${to}%20%C3%BC`)).toBe(from);
  });

  test('a COPY or MOVE without Destination, or with two, is 400', async () => {
    const from = await document();
    const two = { Destination: [`/documents/${fresh()}`, `/documents/${fresh()}`] };
    for (const method of BOTH) {
      expect((await alice(method, from)).status).toBe(400);
      expect((await alice(method, from, two)).status).toBe(400);
    }
  });

  test('a name in Destination means the same resource in either normal form', async () => {
    const [from, to] = [await document(), fresh()];
    await go('COPY', from, `${to}-e%CC%81`);
    expect(await text(`${to}-%C3%A9`)).toBe(from);
    expect((await go('COPY', from, `${to}-%C3%A9`, { Overwrite: 'F' })).status).toBe(412);
  });

  test('section 8.1: a client without the write scope learns nothing about the destination', async () => {
    const reading = rs.token('documents:read');
    const [from, to] = [await document(), await document()];
    for (const method of BOTH) {
      const { status } = await rs.ask(method, `/documents/${from}`, {
        headers: { Authorization: `Bearer ${reading}`, Destination: `/documents/${to}` },
      });
      expect(status).toBe(403);
    }
  });
});

describe('RFC 4918 section 7.6: locks', () => {
  test('COPY and MOVE neither copy nor move a lock', async () => {
    const [from, one, two] = [await document(), fresh(), fresh()];
    const token = tokenOf(await lock(alice, from));
    expect((await go('COPY', from, one)).status).toBe(201);
    expect((await bob('PUT', one, {}, 'x')).status).toBe(204);
    expect((await go('MOVE', from, two)).status).toBe(423);
    expect((await go('MOVE', from, two, { If: `(${token})` })).status).toBe(201);
    expect((await bob('PUT', two, {}, 'x')).status).toBe(204);
    expect((await bob('PUT', from, {}, 'x')).status).toBe(201);
  });

  test('a resource that is copied or moved into a locked collection needs its token, and is locked by it', async () => {
    for (const method of BOTH) {
      const [from, to] = [await document(), await tree()];
      const If = `</documents/${to}/> (${tokenOf(await lock(alice, to))})`;
      const refused = await go(method, from, `${to}/new`);
      expect(refused.status).toBe(423);
      expect(refused.text).toContain(`<D:href>/documents/${to}/</D:href>`);
      expect((await go(method, from, `${to}/new`, { If })).status).toBe(201);
      expect((await bob('PUT', `${to}/new`, {}, 'x')).status).toBe(423);
    }
  });

  test('a lock at the destination requires its token, and stays', async () => {
    for (const method of BOTH) {
      const [from, to] = [await tree(), await tree()];
      const token = tokenOf(await lock(alice, to));
      expect((await go(method, from, to)).status).toBe(423);
      const If = `</documents/${to}/> (${token})`;
      expect((await go(method, from, to, { If })).status).toBe(204);
      expect((await bob('PUT', `${to}/a`, {}, 'x')).status).toBe(423);
      expect((await alice('UNLOCK', to, { 'Lock-Token': token })).status).toBe(204);
    }
  });

  test('COPY and MOVE remove the locks of the replaced resources', async () => {
    const [from, to] = [await tree(), await tree()];
    const token = tokenOf(await lock(alice, `${to}/a`));
    const If = `</documents/${to}/a> (${token})`;
    expect((await go('COPY', from, to, { If })).status).toBe(204);
    expect((await bob('PUT', `${to}/a`, {}, 'x')).status).toBe(204);
  });

  test('MOVE needs the tokens of both collections, since both change', async () => {
    const [one, two] = [await tree(), await tree()];
    const locks = await Promise.all([one, two].map((path) => lock(alice, path, { Depth: '0' })));
    const [from, to] = locks.map(tokenOf);
    const If = [`</documents/${one}/> (${from})`, `</documents/${two}/> (${to})`];
    for (const [field, status] of [
      ['(Not <DAV:no-lock>)', 423],
      [If[0], 423],
      [If[1], 423],
      [If.join(' '), 201],
    ] as const) {
      const headers = { If: field ?? '' };
      expect((await go('MOVE', `${one}/a`, `${two}/moved`, headers)).status).toBe(status);
    }
  });

  test('sections 9.8.5 and 9.9.4: with a locked member the answer is 207, and nothing is done', async () => {
    const [from, to] = [await tree(), await tree()];
    await lock(bob, `${from}/c/b`);
    const moved = await go('MOVE', from, fresh());
    expect(moved.status).toBe(207);
    expect(moved.text).toContain(
      `<D:response><D:href>/documents/${from}/c/b</D:href><D:status>HTTP/1.1 423 Locked</D:status>`,
    );
    expect(moved.text).not.toContain(' 424 ');
    await lock(bob, `${to}/a`);
    const copied = await go('COPY', from, to);
    expect(copied.status).toBe(207);
    expect(copied.text).toContain(`<D:href>/documents/${to}/a</D:href>`);
    expect(await text(`${from}/a`)).toBe(`${from}/a`);
    expect(await text(`${to}/c/b`)).toBe(`${to}/c/b`);
  });

  test('a locked source may be copied without its token', async () => {
    const [from, to] = [await tree(), fresh()];
    await lock(alice, from);
    const copied = await bob('COPY', from, { Destination: `/documents/${to}` });
    expect(copied.status).toBe(201);
    expect(await text(`${to}/c/b`)).toBe(`${from}/c/b`);
  });
});

describe('races', () => {
  test('if ten MOVEs of one document compete, one succeeds and nothing is lost', async () => {
    const from = await document();
    const base = fresh();
    const replies = await Promise.all(ten.map((index) => go('MOVE', from, `${base}-${index}`)));
    const winners = ten.filter((index) => replies[index]?.status === 201);
    expect(winners).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(await text(`${base}-${winners[0]}`)).toBe(from);
  });

  test('if ten MOVEs to one target with Overwrite: F compete, one succeeds and nine sources stay', async () => {
    const to = fresh();
    const sources = await Promise.all(ten.map(() => document()));
    const replies = await Promise.all(
      sources.map((from) => go('MOVE', from, to, { Overwrite: 'F' })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(9);
    const left = await Promise.all(sources.map(text));
    expect(left.filter((content) => content === 404)).toHaveLength(1);
    const winner = sources[replies.findIndex(({ status }) => status === 201)];
    expect(await text(to)).toBe(winner);
  });

  test('if two collections are moved into one another, one MOVE is refused and no cycle is made', async () => {
    const [one, two] = [await tree(), await tree()];
    const replies = await Promise.all([go('MOVE', one, `${two}/in`), go('MOVE', two, `${one}/in`)]);
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(201);
    expect([404, 409]).toContain(statuses[1]);
    const [outer, inner] = replies[0]?.status === 201 ? [two, one] : [one, two];
    expect(await text(`${outer}/in/c/b`)).toBe(`${inner}/c/b`);
    expect(await text(`${outer}/a`)).toBe(`${outer}/a`);
  });

  test('during a MOVE of a collection and PUTs into it, each acknowledged document gets to the new path', async () => {
    const [from, to] = [await tree(), fresh()];
    const puts = ten.map((index) => alice('PUT', `${from}/c/new-${index}`, {}, `content-${index}`));
    const [moved, ...replies] = await Promise.all([go('MOVE', from, to), ...puts]);
    expect(moved?.status).toBe(201);
    for (const index of ten) {
      const status = replies[index]?.status;
      expect([201, 409]).toContain(status);
      expect(await text(`${to}/c/new-${index}`)).toBe(status === 201 ? `content-${index}` : 404);
      expect(await text(`${from}/c/new-${index}`)).toBe(404);
    }
  });

  test('with MOVE and LOCK of its source at the same time, either the lock comes first, or LOCK finds nothing', async () => {
    for (const index of ten) {
      const [from, to] = [await tree(), fresh()];
      const order = [() => go('MOVE', from, to), () => lock(bob, `${from}/a`)];
      const [first, second] = await Promise.all(
        (index % 2 === 0 ? order : order.toReversed()).map((start) => start()),
      );
      const [moved, granted] = index % 2 === 0 ? [first, second] : [second, first];
      if (moved?.status === 201) {
        expect([404, 409]).toContain(granted?.status);
        expect((await bob('PUT', `${to}/a`, {}, 'x')).status).toBe(204);
      } else {
        expect([moved?.status, granted?.status]).toEqual([207, 200]);
        expect(await text(`${from}/a`)).toBe(`${from}/a`);
      }
    }
  });
});
