import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { createForger } from './forge.ts';
import type { Forger } from './forge.ts';
import { statusOf } from '../parts/raw-http.ts';

/** Any input gets a well-formed answer and never a 500, and the server keeps running. */
let pair: Pair;
let machine: { id: string; secret: string };
let forger: Forger;
let authorization: { basic: string; bearer: string };

beforeAll(async () => {
  pair = await startPair({
    settings: { trustedProxies: ['127.0.0.1/32'], documents: { maxBytes: 100_000 } },
  });
  machine = await pair.addClient();
  const token = await pair.token(machine);
  forger = await createForger(pair, token);
  authorization = {
    basic: `Basic ${btoa(`${machine.id}:${machine.secret}`)}`,
    bearer: `Bearer ${token}`,
  };
});
afterAll(async () => {
  const errors = [...pair.authz, ...pair.resources].flatMap(({ log }) =>
    log.split('\n').filter((line) => line.includes('"level":"error"') || !line.startsWith('{')),
  );
  await pair[Symbol.asyncDispose]();
  expect(errors.filter((line) => line !== '')).toEqual([]);
});

/**
 * Sends the bytes, and ends the stream at once or when an answer begins. Resolves to all that was received;
 * rejects if the connection stays open.
 */
function send(origin: string, bytes: Buffer, end: 'at once' | 'when answered'): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end after: ${received}`)));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      socket.end();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(received);
      else reject(error);
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(received));
    if (end === 'at once') socket.end(bytes);
    else socket.write(bytes);
  });
}

/**
 * Node drops a complete request if the sender ends the stream early; then the request is sent again without
 * the end.
 */
async function exchange(origin: string, bytes: Buffer): Promise<string> {
  return (await send(origin, bytes, 'at once')) || send(origin, bytes, 'when answered');
}

/** Throws if the first answer is malformed, or if any answer is a 500. */
function checkAnswers(received: string, method: string): void {
  const rest = received.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
  const end = rest.indexOf('\r\n\r\n');
  const [line = '', ...lines] = rest.slice(0, end).split('\r\n');
  expect(line).toMatch(/^HTTP\/1\.1 [2-5][0-9]{2} [A-Za-z' -]+$/);
  for (const field of lines) expect(field).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\t -~]*$/);
  const fields = new Map(
    lines.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const status = statusOf(rest);
  for (const [, each] of received.matchAll(/^HTTP\/1\.1 ([0-9]{3}) /gm))
    expect(each).not.toBe('500');
  if (status === 401) expect(fields.get('www-authenticate')).toBeDefined();
  if (status === 405) expect(fields.get('allow')).toBeDefined();
  if ([429, 503].includes(status)) expect(fields.get('retry-after')).toBeDefined();
  expect(rest).not.toMatch(/node_modules|\.ts:[0-9]|\n\s+at /);

  const body = rest.slice(end + 4);
  const length = fields.get('content-length');
  if (method === 'HEAD' || status === 204 || status === 304) return;
  if (length !== undefined) expect(body.length).toBeGreaterThanOrEqual(Number(length));
  else if (fields.get('transfer-encoding') === 'chunked') expect(body).toContain('0\r\n\r\n');
  if (status >= 400 && body !== '') expect(fields.get('content-type')).toMatch(/json/);
}

const live = async (origin: string) => (await fetch(`${origin}/health/live`)).status;

const METHODS = 'GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT QUERY PRI get FOO'.split(' ');
const PATHS = `/ /token /token/introspection /token/revocation /jwks /documents/ /documents/a /hidden/x
  /verify /health/ready /.well-known/oauth-protected-resource/documents/ * /.. // /% http://a/token`;
const NAMES = `Host Authorization DPoP Content-Type Content-Length Transfer-Encoding Expect Connection
  If-Match If-None-Match If-Modified-Since Range Content-Range Content-Encoding Origin Upgrade TE
  X-Forwarded-For X-Forwarded-Method X-Forwarded-Uri X-Forwarded-Host X-Forwarded-Proto Forwarded
  Access-Control-Request-Method X-Request-Id Accept Cookie Trailer __proto__ constructor`;
const VALUES = `|a|0|-1|5|1e9|chunked|gzip, chunked|close|keep-alive|100-continue|*|"|"x"|W/"x"|h2c|,|
|application/x-www-form-urlencoded|application/json; charset=x|text/plain; a="|bytes=0-|http://a|
|Bearer|Bearer a|DPoP a.b.c|Basic Og==|Basic|a=b, c|http|https|/documents/|localhost:99999`;
const words = (list: string) => list.split(/\s+/);
/** Random bytes as latin1. */
const bytes = fc
  .uint8Array({ maxLength: 60 })
  .map((array) => Buffer.from(array).toString('latin1'));
const often = <T>(usual: readonly T[], odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });

const request = fc.record({
  method: often(METHODS, bytes),
  path: fc.tuple(
    often(words(PATHS), bytes),
    often(['', '?', '?a=b', '?access_token=x', '/', '%2F', '/..'], bytes),
  ),
  version: often(
    ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', ''],
    bytes,
  ),
  host: fc.boolean(),
  trusted: fc.boolean(),
  known: fc.constantFrom('none', 'basic', 'bearer'),
  fields: fc.array(fc.tuple(often(words(NAMES), bytes), often(VALUES.split(/[|\n]+/), bytes)), {
    maxLength: 6,
  }),
  end: often(['\r\n', '\r\n', '\r\n', '\n', ''], bytes),
  body: often(
    ['', 'grant_type=client_credentials', 'token=x', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n'],
    bytes,
  ),
});

type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never;

function written({
  method,
  path,
  version,
  host,
  trusted,
  known,
  fields,
  end,
  body,
}: Asked): Buffer {
  const forwarded = [
    'X-Forwarded-Method: GET',
    'X-Forwarded-Proto: http',
    `X-Forwarded-Host: ${new URL(pair.resource).host}`,
    'X-Forwarded-Uri: /documents/a',
  ];
  const lines = [
    `${method} ${path.join('')} ${version}`,
    ...(host ? ['Host: localhost', `Content-Length: ${body.length}`] : []),
    ...(trusted ? forwarded : []),
    ...(known === 'none' ? [] : [`Authorization: ${authorization[known]}`]),
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n${end}${body}`, 'latin1');
}

describe.each([
  ['authorization server', () => pair.issuer],
  ['resource server', () => pair.resource],
])('any input to the %s gets a valid answer', (_, origin) => {
  test('a request with random parts', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        checkAnswers(await exchange(origin(), written(asked)), asked.method);
      }),
      { numRuns: 2000 },
    );
    expect(await live(origin())).toBe(200);
  });

  test('bytes that are no request', async () => {
    const some = fc.uint8Array({ minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(some, async (array) => {
        const received = await send(origin(), Buffer.from(array), 'at once');
        expect([0, 400, 501, 505]).toContain(statusOf(received));
      }),
      { numRuns: 300 },
    );
    expect(await live(origin())).toBe(200);
  });

  test('a valid request that is cut off anywhere', async () => {
    const whole = Buffer.from(
      `POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 29\r\nContent-Type: application/x-www-form-urlencoded\r\nAuthorization: ${authorization.basic}\r\n\r\ngrant_type=client_credentials`,
    );
    for (let length = 1; length < whole.length; length += 7) {
      const status = statusOf(await send(origin(), whole.subarray(0, length), 'at once'));
      expect([length, [0, 400, 404].includes(status)]).toEqual([length, true]);
    }
    expect(await live(origin())).toBe(200);
  });
});

describe('authorization server: forms', () => {
  const names = `grant_type scope resource token token_type_hint client_id client_secret client_assertion
    client_assertion_type code`;
  const values = `client_credentials documents:read https://a.example a.b.c null []
    urn:ietf:params:oauth:client-assertion-type:jwt-bearer`;
  const parameter = often(words(names), anyText());
  const value = often(words(values), anyText());
  const form = fc.array(fc.tuple(parameter, value), { maxLength: 6 });
  const path = fc.constantFrom('/token', '/token/introspection', '/token/revocation');

  test('random parameters get JSON that says what is wrong', async () => {
    await fc.assert(
      fc.asyncProperty(path, form, fc.boolean(), async (where, pairs, known) => {
        const response = await fetch(pair.issuer + where, {
          method: 'POST',
          headers: known ? { authorization: authorization.basic } : {},
          body: new URLSearchParams(pairs),
        });
        const text = await response.text();
        expect([200, 400, 401]).toContain(response.status);
        if (response.status === 401) expect(response.headers.has('www-authenticate')).toBe(true);
        if (response.status === 200) return;
        expect(JSON.parse(text)).toMatchObject({ error: expect.stringMatching(/^[a-z_]+$/) });
      }),
      { numRuns: 500 },
    );
    expect(await live(pair.issuer)).toBe(200);
  });
});

describe('resource server: signed tokens', () => {
  const json = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>('', [], {}, null, -1, 1e308, '__proto__'),
  );
  const claims = `iss aud sub client_id jti iat exp nbf scope grant_id sub_gen client_gen epoch cnf x`;
  const claim = fc.constantFrom(...words(claims));
  const parameter = fc.constantFrom(...words('typ alg kid jwk crit b64 zip cty x5c x'));

  test('any value in any claim or header parameter gets no 5xx, at every endpoint', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(claim, json),
        fc.dictionary(parameter, json),
        async (payload, header) => {
          const token = forger.token(payload, header);
          const bearer = { authorization: `Bearer ${token}` };
          const { status } = await fetch(pair.documents, { headers: bearer });
          expect([200, 401, 403]).toContain(status);
          const known = await pair.post('/token/introspection', { token }, machine);
          expect(known.status).toBe(200);
        },
      ),
      { numRuns: 300 },
    );
    expect(await live(pair.resource)).toBe(200);
  });
});

describe('sizes', () => {
  const statusFor = async (origin: string, head: string, body = '') =>
    statusOf(
      await exchange(
        origin,
        Buffer.from(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n${body}`),
      ),
    );
  const long = (length: number) => 'x'.repeat(length);

  test.each([
    [
      'authorization server: a target over 8 KiB is 414, fields over 16 KiB are 431',
      () => pair.issuer,
      20_000,
    ],
    [
      'resource server: a target over 8 KiB is 414, fields over 80 KiB are 431',
      () => pair.resource,
      90_000,
    ],
  ])('%s', async (_, origin, most) => {
    expect(await statusFor(origin(), `GET /?${long(9000)} HTTP/1.1`)).toBe(414);
    expect(await statusFor(origin(), `GET / HTTP/1.1\r\nX: ${long(most)}`)).toBe(431);
    const many = Array.from({ length: most / 7 }, (_each, index) => `X-${index}: y`).join('\r\n');
    expect(await statusFor(origin(), `GET / HTTP/1.1\r\n${many}`)).toBe(431);
    expect(await statusFor(origin(), `${long(20_000)} / HTTP/1.1`)).toBeGreaterThanOrEqual(400);
  });

  test('a form over 56 KiB gets 413, with or without Content-Length', async () => {
    const body = `grant_type=client_credentials&x=${long(60_000)}`;
    const headers = {
      authorization: authorization.basic,
      'content-type': 'application/x-www-form-urlencoded',
    };
    for (const path of ['/token', '/token/introspection', '/token/revocation']) {
      const url = pair.issuer + path;
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(413);
      const stream = new Blob([body]).stream();
      const chunked = { method: 'POST', headers, body: stream, duplex: 'half' } as const;
      expect((await fetch(url, chunked)).status).toBe(413);
    }
  });

  test('a document over the limit gets 413, with or without Content-Length, and leaves nothing', async () => {
    const headers = { authorization: authorization.bearer };
    const url = `${pair.documents}large`;
    const body = Buffer.alloc(100_001);
    expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(413);
    const stream = new Blob([body]).stream();
    const chunked = { method: 'PUT', headers, body: stream, duplex: 'half' } as const;
    expect((await fetch(url, chunked)).status).toBe(413);
    expect((await fetch(url, { headers })).status).toBe(404);
    const exact = { method: 'PUT', headers, body: body.subarray(1) };
    expect((await fetch(url, exact)).status).toBe(201);
  });

  test('a token and a proof of any length get no 5xx', async () => {
    const withFields = async (headers: Record<string, string>) =>
      (await fetch(pair.documents, { headers })).status;
    expect(await withFields({ authorization: `Bearer ${long(12_000)}` })).toBe(401);
    const dots = '.'.repeat(12_000);
    expect(await withFields({ authorization: `Bearer ${dots}` })).toBe(401);
    expect(
      await withFields({
        authorization: authorization.bearer.replace('Bearer', 'DPoP'),
        dpop: dots,
      }),
    ).toBe(401);
  });
});
