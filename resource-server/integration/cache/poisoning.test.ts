import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { connect } from 'node:http2';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { attacked } from './attacks.fixture.ts';

const PAGES = 'https://pages.example';
const at = attacked({
  open: { cors: { origins: [] } },
  shown: { cors: { origins: [PAGES, 'https://other.example'] } },
  passing: { upstream: { pass: ['CF-Connecting-IP'] } },
});
const { told, answers, does, ask, get } = at;
const FRESH = { 'Cache-Control': 'max-age=60' };

let paths = 0;
const fresh = (space = 'open') => `/${space}/${(paths += 1)}`;

describe('fields that are not in the cache key', () => {
  test.each([
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Prefix', '/evil'],
    ['Forwarded', 'host=evil.example'],
    ['X-Original-URL', '/evil'],
    ['X-Rewrite-URL', '/evil'],
    ['X_Original_URL', '/evil'],
    ['X-HTTP-Method', 'DELETE'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X_HTTP_Method_Override', 'DELETE'],
    ['X-Auth-Subject', 'evil'],
    ['Host', 'evil.example'],
  ])("a client's %s does not reach the application", async (name, value) => {
    answers(FRESH, (request) => request.rawHeaders.join('\n'));
    const path = fresh();
    expect((await get(path, { [name]: value })).text).not.toContain(value);
  });

  test('a field that clients cannot send does not select a stored answer', async () => {
    const sees = ({ headers }: IncomingMessage) => String(headers['remote-user']);
    answers({ ...FRESH, Vary: 'Remote-User, X-HTTP-Method-Override' }, sees);
    const path = fresh();
    expect((await get(path, { 'Remote-User': 'admin' })).text).toBe('undefined');
    expect((await get(path)).text).toBe('undefined');
    expect((await get(path, { Remote_User: 'b', 'X-HTTP-Method-Override': 'PUT' })).status).toBe(
      200,
    );
    expect(told).toHaveLength(1);
  });

  test('no answer is stored by a field that is read only from trusted proxies', async () => {
    const sees = ({ headers }: IncomingMessage) => String(headers['cf-connecting-ip']);
    answers({ ...FRESH, Vary: 'CF-Connecting-IP' }, sees);
    const path = fresh('passing');
    for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.1']) {
      expect((await get(path, { 'CF-Connecting-IP': address })).text).toBe(address);
    }
    expect(told).toHaveLength(3);
  });

  test('the scheme that a trusted proxy reports is part of the target (RFC 9111 section 2)', async () => {
    answers(FRESH, ({ headers }) => String(headers['x-forwarded-proto']));
    const path = fresh();
    expect((await get(path, { 'X-Forwarded-Proto': 'http' })).text).toBe('http');
    expect((await get(path, { 'X-Forwarded-Proto': 'https' })).text).toBe('https');
    expect((await get(path, { 'X-Forwarded-Proto': 'http' })).text).toBe('http');
    // The name of the scheme is case-insensitive (RFC 9110 section 4.2.3).
    expect((await get(path, { 'X-Forwarded-Proto': 'HTTPS' })).text).toBe('https');
    expect(told).toHaveLength(2);
    await ask('PUT', path);
    for (const proto of ['http', 'https']) await get(path, { 'X-Forwarded-Proto': proto });
    expect(told).toHaveLength(5);
  });

  test.each(['GET', 'HEAD'])(
    '%s with content is neither stored nor answered from the cache',
    async (method) => {
      answers(FRESH, ({ method: by }) => String(by));
      const path = fresh();
      const fat = { headers: { 'Content-Length': '3' }, body: 'fat' };
      for (let count = 0; count < 2; count += 1) await ask(method, path, fat);
      expect((await get(path)).text).toBe('GET');
      await ask(method, path, fat);
      expect(told).toHaveLength(4);
    },
  );
});

test('RFC 9113 section 8.1: a request with content but no Content-Length is not answered from the cache', async () => {
  answers(FRESH, ({ method }) => String(method));
  const path = fresh();
  const session = connect(`http://127.0.0.1:${at.gateway.listening.port}`);
  for (let count = 0; count < 2; count += 1) {
    const stream = session.request(
      { ':path': path, ':authority': 'rs.example' },
      { endStream: false },
    );
    stream.end('fat');
    await text(stream);
  }
  session.destroy();
  await get(path);
  expect(told).toHaveLength(3);
});

test('a Cookie that HTTP/2 splits differs from a Cookie with a comma', async () => {
  answers({ ...FRESH, Vary: 'Cookie' }, ({ headers }) => String(headers.cookie));
  const path = fresh();
  const session = connect(`http://127.0.0.1:${at.gateway.listening.port}`);
  const split = await text(
    session.request({
      ':path': path,
      ':authority': 'rs.example',
      cookie: ['a=1', 'b=2'] as unknown as string,
    }),
  );
  session.destroy();
  expect([split, (await get(path, { Cookie: 'a=1, b=2' })).text]).toEqual(['a=1; b=2', 'a=1, b=2']);
});

describe('spellings of the same target', () => {
  test.each([
    ['a~b', 'a%7Eb'],
    ['a~b', 'a%7eb'],
    ['a/b', 'a%2Fb'],
    ['a/b', 'a//b'],
    ['a?b', 'a?b='],
    ['a?b=%20', 'a?b=+'],
    ['a', 'a?'],
  ])(
    '%s and %s have separate answers, and are removed together if an application may read them as one target',
    async (one, other) => {
      answers(FRESH, ({ url }) => String(url));
      const path = fresh();
      expect((await get(`${path}/${one}`)).text).toContain(one);
      expect((await get(`${path}/${other}`)).text).toMatch(
        new RegExp(`${other.replaceAll(/[?+]/g, '\\$&')}$`),
      );
      await get(`${path}/${one}`);
      expect(told).toHaveLength(2);
    },
  );

  test('a target in absolute-form is the same target (RFC 9112 section 3.2.2)', async () => {
    answers(FRESH, ({ url }) => String(url));
    const path = fresh();
    await get(path);
    await get(`http://rs.example${path}`);
    expect(told).toHaveLength(1);
  });

  test.each(['/../', '/%2e%2e/', '/..%2f', '/.;/'])('%s is refused as a target', async (step) => {
    answers(FRESH, ({ url }) => String(url));
    expect((await get(`/open/a${step}b`)).status).toBeGreaterThanOrEqual(400);
    expect(told).toHaveLength(0);
  });
});

describe('Vary (RFC 9111 section 4.1)', () => {
  const vary = { ...FRESH, Vary: 'Accept-Language' };

  test('a field that Connection removes is treated as absent from the request', async () => {
    answers(vary, ({ headers }) => headers['accept-language'] ?? 'none');
    const path = fresh();
    const poison = { 'Accept-Language': 'de', Connection: 'close, accept-language' };
    expect((await get(path, poison)).text).toBe('none');
    expect((await get(path, { 'Accept-Language': 'de' })).text).toBe('de');
  });

  test('a field whose name applications read as the same field does not select an answer', async () => {
    answers(vary, ({ headers }) => String(headers['accept_language']));
    const path = fresh();
    expect((await get(path, { Accept_Language: 'xx' })).text).toBe('xx');
    expect((await get(path)).text).toBe('undefined');
  });

  test('no value of a varying field collides with the digest of another value', async () => {
    answers({ ...FRESH, Vary: 'User-Agent' }, ({ headers }) => String(headers['user-agent']));
    const path = fresh();
    const long = 'x'.repeat(200);
    const digest = `sha256:${createHash('sha256').update(long).digest('base64url')}`;
    for (const agent of [digest, long])
      expect((await get(path, { 'User-Agent': agent })).text).toBe(agent);
  });

  test.each(['*', 'X-Forwarded-Proto', 'X-Forwarded-For', 'X-Auth-Subject', 'Via'])(
    'an answer with %s is not stored',
    async (name) => {
      answers({ ...FRESH, Vary: `Accept, ${name}` }, () => '');
      const path = fresh();
      for (let count = 0; count < 2; count += 1) await get(path);
      expect(told).toHaveLength(2);
    },
  );

  test('many variants that one client causes do not slow down look-ups', async () => {
    const long = 'e'.repeat(800);
    answers({ 'Cache-Control': 'max-age=1', Vary: 'X-Any' }, () => '');
    does((request, response) => {
      response.setHeader('Cache-Control', 'max-age=1');
      response.setHeader('Vary', 'X-Any');
      response.setHeader('ETag', `"${String(request.headers['x-any'])}${long}"`);
      response.end('x');
    });
    const path = fresh();
    for (let count = 0; count < 40; count += 1) await get(path, { 'X-Any': String(count) });
    at.gateway.clock.advance(5);
    const { status } = await get(path, { 'X-Any': '3' });
    expect(status).toBe(200);
    const asked = told.at(-1)?.headers['if-none-match'] ?? '';
    expect(asked).toContain(`"3${long}"`);
    expect(asked.length).toBeLessThan(8000);
  });
});

describe('CORS', () => {
  test('CORS fields are added for each origin, and their Vary is joined with that of the application', async () => {
    answers(
      { ...FRESH, Vary: 'Accept', 'Access-Control-Allow-Origin': 'https://evil.example' },
      () => 'x',
    );
    const path = fresh('shown');
    for (const origin of [PAGES, 'https://other.example', 'https://evil.example']) {
      const { headers } = await get(path, { Origin: origin });
      expect(headers['access-control-allow-origin']).toBe(
        origin.includes('evil') ? undefined : origin,
      );
      expect(headers.vary?.split(', ').toSorted()).toEqual(['Accept', 'Origin']);
    }
    expect((await get(path)).headers['access-control-allow-origin']).toBeUndefined();
    expect(told).toHaveLength(1);
  });

  test('a CORS permission for one origin is not given to another origin', async () => {
    does((request, response) => {
      response.setHeader('Cache-Control', 'max-age=60');
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? 'null');
      response.end('x');
    });
    const path = fresh();
    for (const origin of ['https://a.example', 'https://b.example']) {
      const { headers } = await get(path, { Origin: origin });
      expect(headers['access-control-allow-origin']).toBe(origin);
    }
  });
});

describe('parts, errors and other answers', () => {
  test.each([
    [206, { 'Content-Range': 'bytes 0-0/9' }],
    [206, { 'Content-Type': 'multipart/byteranges; boundary=x' }],
    [416, { 'Content-Range': 'bytes */9' }],
    [400, { 'Cache-Control': 'public' }],
    [500, {}],
    [404, { 'Cache-Control': 'public' }],
    [431, {}],
    [304, {}],
  ])('an answer %s with %j is not stored', async (status, fields) => {
    does((_request, response) =>
      response
        .writeHead(status, {
          ...(status < 430 && status !== 400 && status !== 404 && FRESH),
          ...fields,
        })
        .end(status === 304 ? undefined : 'x'),
    );
    const path = fresh();
    for (let count = 0; count < 2; count += 1) await get(path, { Range: 'bytes=0-0' });
    await get(path);
    expect(told).toHaveLength(3);
  });

  test('a line break in the value of a field cannot add a field', async () => {
    does((_request, response) => {
      response.socket?.end(
        'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 1\r\n\r\nx',
      );
    });
    const path = fresh();
    for (let count = 0; count < 2; count += 1) expect((await get(path)).status).toBe(502);
  });

  test.each([
    'Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy',
    'Content-Length: 3\r\n\r\nxy',
    'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n',
  ])('an answer with two lengths, or that breaks off, is not stored: %j', async (rest) => {
    does((_request, response) =>
      response.socket?.end(`HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n${rest}`),
    );
    const path = fresh();
    for (let count = 0; count < 2; count += 1) await get(path).catch(() => {});
    expect(told.length).toBeGreaterThanOrEqual(2);
  });

  test('octets outside ASCII in fields are preserved', async () => {
    does((_request, response) => {
      response.socket?.end(
        Buffer.from(
          'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-A: \xe4\xc3\xa4\r\nContent-Length: 1\r\n\r\nx',
          'latin1',
        ),
      );
    });
    const path = fresh();
    for (let count = 0; count < 2; count += 1)
      expect((await get(path)).headers['x-a']).toBe('\xe4\xc3\xa4');
    expect(told).toHaveLength(1);
  });

  test('RFC 9111 section 5.2.2.4: fields that must not be stored reach only the requesting client', async () => {
    does((_request, response) => {
      response.setHeader(
        'Cache-Control',
        'max-age=60, s-maxage=60, no-cache="set-cookie", private="x-own"',
      );
      response.setHeader('Set-Cookie', 'a=b');
      response.setHeader('X-Own', 'c');
      response.end('x');
    });
    const path = fresh();
    expect((await get(path)).headers).toMatchObject({ 'set-cookie': ['a=b'], 'x-own': 'c' });
    const { headers } = await get(path);
    expect([headers['set-cookie'], headers['x-own']]).toEqual([undefined, undefined]);
    expect(told).toHaveLength(1);
  });

  test('the cache never passes on a 304 that it did not request', async () => {
    does((request, response) => {
      response.setHeader('Cache-Control', 'max-age=1');
      response.setHeader('ETag', request.headers['if-none-match'] ? '"other"' : '"a"');
      response.statusCode = request.headers['if-none-match'] ? 304 : 200;
      response.end(response.statusCode === 200 ? 'x' : undefined);
    });
    const path = fresh();
    await get(path);
    at.gateway.clock.advance(5);
    expect(await get(path)).toMatchObject({ status: 200, text: 'x' });
    expect(told.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"a"',
      undefined,
    ]);
  });

  test('only-if-cached without a stored answer is 504 (RFC 9111 section 5.2.1.7)', async () => {
    answers(FRESH, () => 'x');
    const path = fresh();
    const only = { 'Cache-Control': 'only-if-cached' };
    expect((await get(path, only)).status).toBe(504);
    await get(path);
    expect((await get(path, only)).status).toBe(200);
    expect(told).toHaveLength(1);
  });
});

test('long targets and large fields never get the answer to another request', async () => {
  answers(FRESH, ({ url, headers }) => `${url} ${String(headers['x-any']).length}`);
  const path = fresh();
  const long = `${path}?${'x'.repeat(6000)}`;
  for (let count = 0; count < 2; count += 1)
    expect((await get(long)).text).toContain('x'.repeat(6000));
  expect(told).toHaveLength(2);
  expect((await get(path, { 'X-Any': 'x'.repeat(100_000) })).status).toBe(431);
  expect((await get(path)).status).toBe(200);
});
