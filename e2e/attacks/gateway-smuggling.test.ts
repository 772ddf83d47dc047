import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  frame,
  framesOf,
  headersFrame,
  OPENING,
} from '#shared/server/wire/http2-frames.fixture.ts';
import { basic, type GatewaySite, startGatewaySite } from '../interop/gateway/gateway-site.ts';
import { type RawRequest, type RawUpstream, startRawUpstream } from '../parts/raw-upstream.ts';
import { dice } from './dice.ts';
import { fuzzedRequest } from './fuzzed.ts';

/** Requests that two readers could split differently (RFC 9112 section 11.2), sent through the gateway. */
const AUTHORIZATION = basic()[1];
const LINES = `Host: localhost\r\nAuthorization: ${AUTHORIZATION}\r\n`;
/** The hidden request. Without credentials, it must never reach the application. */
const SMUGGLED = 'GET /app/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
const DIRECT = 'GET /base/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** A last request that closes the connection, if the connection is still open. */
const LAST = `GET /app/last HTTP/1.1\r\n${LINES}Connection: close\r\n\r\n`;
/** Milliseconds after which the test stops waiting for a server that waits for more of a request. */
const ENOUGH = 1000;

const parts = new AsyncDisposableStack();
let upstream: RawUpstream;
let site: GatewaySite;
beforeAll(async () => {
  upstream = parts.use(
    await startRawUpstream(async ({ socket, target, content }) => {
      // At /early the application answers before it has read the content.
      if (!target.startsWith('/base/early')) await content();
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    }),
  );
  site = parts.use(
    await startGatewaySite({
      app: { upstream: { url: `${upstream.url}/base/`, identity: ['statement', 'fields'] } },
    }),
  );
});
afterAll(async () => parts.disposeAsync());

/**
 * Returns all that came until the connection was closed. The test closes it after the last answer or after
 * ENOUGH.
 */
function exchange(
  bytes: string | Buffer,
  isAll: (received: string) => boolean = () => false,
): Promise<string> {
  const { hostname, port } = new URL(site.origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  let received = '';
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
    if (isAll(received)) socket.destroy();
  });
  socket.on('error', () => {});
  socket.setTimeout(ENOUGH, () => socket.destroy());
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

/**
 * Expects that each request at the application was admitted, is unambiguous, and is not the hidden request.
 */
function expectLetIn(): readonly RawRequest[] {
  const came = upstream.take();
  expect(upstream.unreadable).toEqual([]);
  for (const { method, target, lines } of came) {
    const path = target.split('?')[0] ?? '';
    expect([method, path]).toEqual([method, expect.stringMatching(/^\/base\//)]);
    expect(path).not.toMatch(/^\/base\/smuggled/);
    for (const name of ['x-request-id', 'via', 'x-forwarded-for']) {
      expect(lines.filter(([one]) => one.toLowerCase() === name)).toHaveLength(1);
    }
    expect(JSON.stringify(lines)).not.toContain(AUTHORIZATION);
  }
  return came;
}

const post = (lines: string, content: string, path = '/app/x') =>
  `POST ${path} HTTP/1.1\r\n${LINES}${lines}\r\n${content}`;
const chunk = (content: string) => `${content.length.toString(16)}\r\n${content}\r\n`;

test('a valid request reaches the application, so that the refusals below are due to the attacks', async () => {
  const sent = [
    post('Content-Length: 5\r\n', 'GET /'),
    post('Transfer-Encoding: chunked\r\n', `${chunk(SMUGGLED)}0\r\n\r\n`),
    LAST,
  ];
  expect(await exchange(sent.join(''))).toMatch(/ok[^]*ok[^]*ok$/);
  expect(expectLetIn().map(({ target, read }) => [target, read])).toEqual([
    ['/base/x', 'GET /'],
    ['/base/x', SMUGGLED],
    ['/base/last', ''],
  ]);
});

describe('a request with two framings smuggles no second request:', () => {
  const CODINGS = [
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: cHuNkEd',
    'Transfer-Encoding:chunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding\t: chunked',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding:\r\n chunked',
    'X: y\nTransfer-Encoding: chunked',
    'X: y\rTransfer-Encoding: chunked',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity, chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: x',
    'Transfer-Encoding: x\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: chunked;x',
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding: chunked\x0c',
    'Transfer-Encoding: chunked\0',
    'Transfer-Encoding\0: chunked',
    'Transfer_Encoding: chunked',
    'Transfer-Encoding : x\r\nTransfer-Encoding: chunked',
    'Transfer-\u00adEncoding: chunked',
    'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  ];
  test.each(CODINGS)('%j behind a length', async (coding) => {
    const content = `0\r\n\r\n${SMUGGLED}${DIRECT}`;
    await exchange(`${post(`Content-Length: ${content.length}\r\n${coding}\r\n`, content)}${LAST}`);
    expectLetIn();
  });
  test.each(CODINGS)('%j before a length that ends within the first chunk', async (coding) => {
    const content = `${chunk(`${SMUGGLED}${DIRECT}`)}0\r\n\r\n`;
    const first = content.indexOf('\r\n') + 2;
    await exchange(`${post(`${coding}\r\nContent-Length: ${first}\r\n`, content)}${LAST}`);
    expectLetIn();
  });

  test.each([
    'Content-Length: 0\r\nContent-Length: 41',
    'Content-Length: 41\r\nContent-Length: 0',
    'Content-Length: 0\r\nContent-length: 0',
    'Content-Length: 0, 41',
    'Content-Length: 0 41',
    'Content-Length: +0',
    'Content-Length: -0',
    'Content-Length: 0x29',
    'Content-Length: 00',
    'Content-Length: 0\0',
    'Content-Length: 0\x0b',
    'Content-Length:',
    'Content-Length: ',
    'Content-Length : 0',
    'Content_Length: 0',
    'Content-Length: 0\r\n 41',
    'X: y\nContent-Length: 0',
    'Content-Length: 18446744073709551616',
    'Connection: Content-Length\r\nContent-Length: 41',
  ])('%j', async (lines) => {
    await exchange(`${post(`${lines}\r\n`, SMUGGLED)}${LAST}`);
    expectLetIn();
  });
});

describe('ambiguous chunks smuggle no second request:', () => {
  test.each([
    ['a line feed in an extension', `1;\n${SMUGGLED}\r\n0\r\n\r\n`],
    ['an extension that is quoted', `1;a="\r\n0\r\n\r\n${SMUGGLED}`],
    ['hexadecimals with a mark', `0x5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`],
    ['a blank before', ` 5\r\nabcde\r\n0\r\n\r\n`],
    ['a blank behind', `5 \r\nabcde\r\n0\r\n\r\n`],
    ['less than none', `-5\r\n${SMUGGLED}0\r\n\r\n`],
    ['beyond numbers', `${'f'.repeat(17)}1\r\n${SMUGGLED}0\r\n\r\n`],
    ['beyond numbers, with a rest', `1${'0'.repeat(16)}\r\n${SMUGGLED}0\r\n\r\n`],
    ['bare line feeds', `5\nabcde\n0\n\n${SMUGGLED}`],
    ['a line feed at the end', `5\r\nabcde\r\n0\n\r\n${SMUGGLED}`],
    ['no end of a line', `5\r\nabcdeXX0\r\n\r\n${SMUGGLED}`],
    ['a bare carriage return', `5\rabcde\r0\r\r${SMUGGLED}`],
    ['an empty size', `\r\n\r\n${SMUGGLED}`],
    ['zeros', `000\r\n\r\n${SMUGGLED}`],
    ['a request for trailers', `0\r\n${SMUGGLED}`],
    ['framing in trailers', `0\r\nContent-Length: 41\r\nTransfer-Encoding: chunked\r\n\r\n`],
    [
      'who it is in trailers',
      `0\r\nX-Auth-Subject: root\r\nAuthorization: Basic YTpi\r\nHost: b\r\n\r\n`,
    ],
  ])('%s', async (_, content) => {
    await exchange(`${post('Transfer-Encoding: chunked\r\n', content)}${LAST}`);
    for (const { trailers } of expectLetIn()) expect(trailers).toEqual([]);
  });
});

describe('ambiguous lines smuggle no second request:', () => {
  test.each([
    ['two versions', 'GET /app/x HTTP/1.1 HTTP/1.1\r\n'],
    ['a blank behind', 'GET /app/x HTTP/1.1 \r\n'],
    ['two blanks', 'GET  /app/x HTTP/1.1\r\n'],
    ['a tab', 'GET\t/app/x\tHTTP/1.1\r\n'],
    ['a bare line feed', 'GET /app/x HTTP/1.1\n'],
    ['a carriage return in the target', 'GET /app/x\rHTTP/1.1\r\nX: y HTTP/1.1\r\n'],
    ['NUL in the target', 'GET /app/x\0 HTTP/1.1\r\n'],
    ['octets beyond ASCII', 'GET /app/\xff HTTP/1.1\r\n'],
    ['another version', 'GET /app/x HTTP/1.2\r\n'],
    ['HTTP/0.9', 'GET /app/x\r\n'],
    ['a fragment', 'GET /app/x#/../smuggled HTTP/1.1\r\n'],
    [
      'an encoded end of the line',
      'GET /app/x%20HTTP/1.1%0d%0a%0d%0aGET%20/app/smuggled HTTP/1.1\r\n',
    ],
    [
      'an encoded end in the query',
      'GET /app/x?%0d%0a%0d%0aGET%20/app/smuggled%20HTTP/1.1 HTTP/1.1\r\n',
    ],
    ['an invalid method', 'GET,POST /app/x HTTP/1.1\r\n'],
    ['CONNECT', 'CONNECT /app/smuggled HTTP/1.1\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n'],
    ['a value with NUL', `GET /app/x HTTP/1.1\r\nX: a\0b\r\n`],
    ['a name with a blank', `GET /app/x HTTP/1.1\r\nX y: z\r\n`],
    ['no name', `GET /app/x HTTP/1.1\r\n: z\r\n`],
    ['a second Host', `GET /app/x HTTP/1.1\r\nHost: b\r\n`],
  ])('%s', async (_, lines) => {
    await exchange(`${lines}${LINES}\r\n${SMUGGLED}${LAST}`);
    expectLetIn();
  });
});

describe('content that is not read before the answer smuggles no request:', () => {
  test.each([
    ['with Expect, sent without waiting', 'Expect: 100-continue\r\n', '/app/x'],
    [
      'with Expect, which the application does not answer',
      'Expect: 100-continue\r\n',
      '/app/early',
    ],
    ['which the application does not read', '', '/app/early'],
  ])('%s', async (_, lines, path) => {
    const content = `${SMUGGLED}${DIRECT}`.repeat(2000);
    const framed = `${lines}Content-Length: ${content.length}\r\n`;
    await exchange(`${post(framed, content, path)}${LAST}`);
    const came = expectLetIn();
    expect(came.length).toBeLessThanOrEqual(2);
  });

  test("a client that disconnects during its content does not change the next client's request", async () => {
    for (let time = 0; time < 20; time += 1) {
      const { hostname, port } = new URL(site.origin);
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => {});
      socket.write(post('Content-Length: 1000\r\n', SMUGGLED));
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.resetAndDestroy();
      expect(await exchange(LAST)).toMatch(/ok$/);
    }
    const came = expectLetIn().filter(({ target }) => target === '/base/last');
    expect(came).toHaveLength(20);
  });
});

describe('HTTP/2 fields, in which line ends are possible, smuggle no request (RFC 9113 section 10.3):', () => {
  const RIGHT = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'a'],
    [':path', '/app/x'],
    ['authorization', AUTHORIZATION],
  ] as const;
  const INJECTED = ' HTTP/1.1\r\nHost: localhost\r\n\r\nGET /base/smuggled';
  const instead = (name: string, value: string) =>
    RIGHT.map(([one, was]) => [one, one === name ? value : was] as const);
  /** Each stream was answered with content, or reset. */
  const areBothEnded = (received: string) => {
    const ended = framesOf(received).filter(({ type }) => type === 0 || type === 3);
    return [1, 3].every((one) => ended.some(({ stream }) => stream === one));
  };
  const last = headersFrame(
    3,
    instead(':path', '/app/last').map(([name, value]) => [
      name,
      name === ':method' ? 'GET' : value,
    ]),
  );

  test.each<[string, readonly (readonly [string, string])[]]>([
    ['an end of a line in the path', instead(':path', `/app/x${INJECTED}`)],
    ['a blank in the path', instead(':path', '/app/x HTTP/1.1')],
    ['a path without a slash', instead(':path', 'app/smuggled')],
    ['a path at another host', instead(':path', 'http://a/base/smuggled')],
    ['an end of a line in the method', instead(':method', 'GET /base/smuggled HTTP/1.1\r\nX:')],
    ['a blank in the method', instead(':method', 'GET /base/smuggled')],
    ['an end of a line in the authority', instead(':authority', 'a\r\nX: y')],
    ['a path in the authority', instead(':authority', 'a/base/smuggled?')],
    ['a scheme that is a URL', instead(':scheme', 'http://a/base/smuggled?')],
    ['an end of a line in a value', [...RIGHT, ['x-field', `a\r\n\r\n${DIRECT}`]]],
    ['a line feed in a value', [...RIGHT, ['x-field', 'a\nTransfer-Encoding: chunked']]],
    ['NUL in a value', [...RIGHT, ['x-field', 'a\0b']]],
    ['a colon in a name', [...RIGHT, ['x-field: a\r\ntransfer-encoding', 'chunked']]],
    ['a name in capitals', [...RIGHT, ['Transfer-Encoding', 'chunked']]],
    ['Transfer-Encoding', [...RIGHT, ['transfer-encoding', 'chunked']]],
    ['Connection', [...RIGHT, ['connection', 'x-auth-statement, content-length']]],
    ['a length of none', [...RIGHT, ['content-length', '0']]],
    ['a length that is shorter', [...RIGHT, ['content-length', '5']]],
    ['a length that is longer', [...RIGHT, ['content-length', '5000']]],
    ['two lengths', [...RIGHT, ['content-length', '5'], ['content-length', '46']]],
    ['another host', [...RIGHT, ['host', 'b']]],
    ['a pseudo-header field at the end', [...RIGHT, ['x', 'y'], [':path', '/app/smuggled']]],
    ['two paths', [...RIGHT, [':path', '/app/smuggled']]],
    ['a pseudo-header field of its own', [...RIGHT, [':smuggled', 'a']]],
  ])('%s', async (_, fields) => {
    const content = `0\r\n\r\n${DIRECT}`;
    const opened = headersFrame(1, fields, { endStream: false });
    const data = frame(0, 1, 1, Buffer.from(content, 'latin1'));
    await exchange(Buffer.concat([OPENING, opened, data, last]), areBothEnded);
    for (const { read } of expectLetIn()) expect(['', content]).toContain(read);
  });
});

test('with fuzzed requests, each request at the application is whole, admitted and of its own client', async () => {
  const roll = dice(17);
  const sent = Array.from({ length: 600 }, () =>
    fuzzedRequest(roll, AUTHORIZATION).replaceAll('/documents/', '/app/'),
  );
  for (let at = 0; at < sent.length; at += 200) {
    await Promise.all(sent.slice(at, at + 200).map((text) => exchange(`${text}${SMUGGLED}`)));
  }
  expect(expectLetIn().length).toBeGreaterThan(0);
});

test('after these tests, no logged error is a defect', () => {
  const log = site.pair.resources[0]?.log ?? '';
  expect(log.split('\n').filter((one) => one.includes('"level":"error"'))).toEqual([]);
});
