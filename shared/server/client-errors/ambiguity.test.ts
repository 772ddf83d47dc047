import type { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { problemAnswer } from '#shared/http/answer.ts';
import { contentOn, errorsOf, headersFrame, OPENING } from '../wire/http2-frames.fixture.ts';
import { listen, type Listening } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';

let listening: Listening;
/** The targets of requests that reached the handler. */
const handled: (string | undefined)[] = [];

const say: AnyHandler = (request, response) => {
  handled.push(request.url);
  const content: Writable = response;
  content.end('"detail":"none"');
};

beforeAll(async () => {
  listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler: say,
    tunnel: async ({ refuse }) => refuse(problemAnswer(407, 'none')),
    http2: { handler: say },
    log: silentLog,
  });
});

afterAll(() => listening.close(0));

function detailIn(received: string): string | undefined {
  return /"detail":"(.*?)"/.exec(received)?.[1];
}

/** Returns the reason that the client gets for this request, or `none` if the handler gets the request. */
async function reasonFor(fields: string, line = 'GET / HTTP/1.1'): Promise<string | undefined> {
  return detailIn(
    await exchange(listening, `${line}\r\n${fields}Connection: close\r\n\r\n0\r\n\r\n`),
  );
}

describe('RFC 9112 section 3.2: Host', () => {
  test.each([
    ['none', ''],
    ['two lines', 'Host: a\r\nHost: a\r\n'],
    ['two lines that differ', 'Host: a\r\nhost: b\r\n'],
    ['a path', 'Host: a/b\r\n'],
    ['two hosts', 'Host: a, b\r\n'],
    ['userinfo', 'Host: a@b\r\n'],
    ['a port that is none', 'Host: a:b\r\n'],
    ['empty (RFC 9110 section 4.2.1)', 'Host:\r\n'],
    ['a port alone', 'Host: :80\r\n'],
  ])('%s is refused', async (_, fields) => {
    expect(await reasonFor(fields)).not.toBe('none');
  });

  test.each([
    ['a host and a port', 'Host: a.example:80\r\n', 'GET / HTTP/1.1'],
    ['an address', 'Host: [::1]:80\r\n', 'GET / HTTP/1.1'],
    ['empty, of a target that names the host', 'Host:\r\n', 'GET http://a/ HTTP/1.1'],
    ['absent from HTTP/1.0', '', 'GET / HTTP/1.0'],
    [
      'other than in an absolute-form target, which wins (section 3.2.2)',
      'Host: b\r\n',
      'GET http://a/ HTTP/1.1',
    ],
  ])('%s is accepted', async (_, fields, line) => {
    expect(await reasonFor(fields, line)).toBe('none');
  });

  test('an invalid Host is refused in HTTP/1.0 and beside an absolute-form target, too', async () => {
    expect(await reasonFor('Host: a b\r\n', 'GET / HTTP/1.0')).not.toBe('none');
    expect(await reasonFor('Host:\r\n', 'GET / HTTP/1.0')).not.toBe('none');
    expect(await reasonFor('Host:\r\n', 'OPTIONS * HTTP/1.1')).not.toBe('none');
    expect(await reasonFor('Host: a b\r\n', 'GET http://a/ HTTP/1.1')).not.toBe('none');
  });
});

describe('RFC 9110 section 5.3: fields that may come only once', () => {
  test.each([
    ['Authorization', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'],
    ['the same Authorization', 'Authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n'],
    ['Proxy-Authorization', 'Proxy-Authorization: a\r\nProxy-Authorization: b\r\n'],
  ])('%s twice is refused', async (_, fields) => {
    expect(await reasonFor(`Host: a\r\n${fields}`)).toMatch(/once/);
  });

  test('a field that is a list may come twice', async () => {
    expect(await reasonFor('Host: a\r\nX_A: 1\r\nX_A: 2\r\nAccept: a\r\nAccept: b\r\n')).toBe(
      'none',
    );
  });
});

describe('RFC 9112 section 11.2: fields that another parser could take for framing', () => {
  test.each([
    'Content_Length',
    'content.length',
    'Transfer_Encoding',
    "Transfer'Encoding",
    'PROXY_AUTHORIZATION',
    'Transfer---Encoding',
    'Transfer___Encoding',
    'Transfer_-Encoding',
    'TransferEncoding',
    'Content-Length-',
    '_Host',
  ])('%s is refused', async (name) => {
    expect(await reasonFor(`Host: a\r\n${name}: 5\r\n`)).toMatch(/too easily taken for/);
  });

  test.each(['X-Host', 'Host2', 'Content-Lengths', 'Encoding', 'X-Authorization'])(
    '%s is an ordinary field',
    async (name) => {
      expect(await reasonFor(`Host: a\r\n${name}: 5\r\n`)).toBe('none');
    },
  );

  test.each([
    ['gzip, chunked', 501],
    ['identity, chunked', 501],
    ['chunked;a=b, chunked', 501],
    ['gzip', 400],
    ['chunked, gzip', 400],
    ['chunked, chunked', 400],
    ['chunked,', 400],
  ])('section 6.1: Transfer-Encoding: %s is %i', async (coding, status) => {
    const request = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`;
    const received = await exchange(listening, request);
    expect(statuses(received)).toEqual([status]);
    expect(received).toMatch(/^connection: close$/im);
  });

  test('two lines of Transfer-Encoding are refused', async () => {
    const fields = 'Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n';
    expect(await reasonFor(fields, 'POST / HTTP/1.1')).toMatch(/once/);
  });

  test('section 6.1: HTTP/1.0 has no Transfer-Encoding', async () => {
    const fields = 'Host: a\r\nTransfer-Encoding: chunked\r\n';
    expect(await reasonFor(fields, 'POST / HTTP/1.0')).toMatch(/HTTP\/1\.0/);
    expect(await reasonFor(fields.replace('chunked', 'CHUNKED'), 'POST / HTTP/1.1')).toBe('none');
  });
});

describe('RFC 9112 sections 6.1 and 9.6: octets after a refused request are not read as a request', () => {
  const BEHIND = 'GET /behind HTTP/1.1\r\nHost: a\r\n\r\n';

  test.each<[string, string, number[]]>([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', [400]],
    ['two lines of Host', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', [400]],
    [
      'Transfer-Encoding in HTTP/1.0',
      'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    [
      'a look-alike and content',
      'POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 3\r\nContent-Length: 2\r\n\r\nab',
      [400],
    ],
    [
      'a transfer coding that is unknown',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      [501],
    ],
    [
      'content that is asked for',
      'POST / HTTP/1.1\r\nHost: a\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab',
      [400],
    ],
    ['an expectation that is not met', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', [417]],
    ['a target that is too long', `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n\r\n`, [414]],
    [
      'a second request',
      'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
      [200, 400],
    ],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nHost: a:1\r\n\r\n', [400]],
  ])(
    'octets after a refused request are not read as a request: %s',
    async (_, request, expected) => {
      handled.length = 0;
      for (const behind of [BEHIND, BEHIND.replace('GET', 'CONNECT').replace('/behind', 'a:1')]) {
        const received = await exchange(listening, request + behind);
        expect(statuses(received)).toEqual(expected);
        expect(received).toMatch(/^connection: close$/im);
      }
      expect(handled).not.toContain('/behind');
    },
  );

  test('octets that arrive in a later read are not read as a request either', async () => {
    handled.length = 0;
    const client = new TestSocket(listening);
    await client.send('POST / HTTP/1.1\r\nHost: a\r\nHost: a\r\nContent-Length: 2\r\n\r\n');
    await client.send(`ab${BEHIND}`);
    expect(statuses(await client.all)).toEqual([400]);
    expect(handled).toEqual([]);
  });

  test('over HTTP/2 the connection still serves other streams', async () => {
    const client = new TestSocket(listening);
    const fields = [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':authority', 'a'],
      [':path', '/'],
    ] as const;
    const twice = [...fields, ['authorization', 'a'], ['authorization', 'b']] as const;
    client.socket.write(Buffer.concat([OPENING, headersFrame(1, twice), headersFrame(3, fields)]));
    await client.until('"detail":"none"');
    expect(detailIn(contentOn(1, client.received))).toMatch(/once/);
    client.socket.destroy();
  });
});

/** Returns the reason that the client gets over HTTP/2, or `reset` if the stream is reset without a reason. */
async function reasonOver2(...fields: readonly (readonly [string, string])[]): Promise<string> {
  const client = new TestSocket(listening);
  client.socket.write(Buffer.concat([OPENING, headersFrame(1, fields)]));
  while (errorsOf(client.received, 1).length === 0) {
    const reason = detailIn(contentOn(1, client.received));
    if (reason !== undefined) {
      client.socket.destroy();
      return reason;
    }
    if (client.socket.destroyed) throw new Error('closed');
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.destroy();
  return 'reset';
}

describe('over HTTP/2', () => {
  const to = (authority: string, scheme = 'http', path = '/') =>
    [
      [':method', 'GET'],
      [':scheme', scheme],
      [':authority', authority],
      [':path', path],
    ] as const;
  const hostOnly = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
  ] as const;

  test.each([
    ['a host and a port', to('a.example:80')],
    ['an address', to('[::1]:80')],
    ['Host beside it', [...to('a'), ['host', 'a']]],
    [
      'Host in another case and with the default port',
      [...to('A.example'), ['host', 'a.EXAMPLE:80']],
    ],
    ['the default port of https', [...to('a:443', 'https'), ['host', 'a']]],
    ['an empty port', [...to('a:'), ['host', 'a']]],
    ['Host alone, as a gateway sends it', [...hostOnly, ['host', 'a']]],
    ['several lines of Cookie (section 8.2.3)', [...to('a'), ['cookie', 'a=1'], ['cookie', 'b=2']]],
    ['TE: trailers (section 8.2.2)', [...to('a'), ['te', 'trailers']]],
    ['a tab within a value', [...to('a'), ['x', 'a\tb']]],
    ['a field of one line of HTTP/1.1', [...to('a'), ['authorization', 'Bearer a']]],
  ] as const)('a request over HTTP/2 is accepted: %s', async (_, fields) => {
    expect(await reasonOver2(...fields)).toBe('none');
  });

  test.each([
    ['section 8.3.1: an authority without a host', [...to(':80')], /authority|reset/],
    ['section 8.3.1: Host differs', [...to('a'), ['host', 'b']], /differs/],
    ['section 8.3.1: another port', [...to('a'), ['host', 'a:81']], /differs/],
    ['section 8.3.1: the port of another scheme', [...to('a'), ['host', 'a:443']], /differs/],
    ['Host twice', [...to('a'), ['host', 'a'], ['host', 'a']], /once|reset/],
    ['Authorization twice', [...to('a'), ['authorization', 'a'], ['authorization', 'b']], /once/],
    ['a field too much like Content-Length', [...to('a'), ['content_length', '5']], /taken/],
    ['a field too much like Transfer-Encoding', [...to('a'), ['transfer_encoding', 'x']], /taken/],
    [
      'section 8.2.1: a value that begins with a space',
      [...to('a'), ['if-match', ' "a"']],
      /space/,
    ],
    ['section 8.2.1: a value that ends with a tab', [...to('a'), ['if-match', '"a"\t']], /space/],
    ['a port that is none', to('a:99999'), /valid host/],
    ['two hosts', to('a,b c'), /valid host|reset/],
    ['a path that is a URL, of another scheme', to('a', 'x', 'http://b/'), /slash|reset/],
  ] as const)('a request over HTTP/2 is refused: %s', async (_, fields, reason) => {
    expect(await reasonOver2(...fields)).toMatch(reason);
  });

  test.each([
    ['section 8.3.1: no authority', hostOnly],
    ['section 8.3.1: an empty authority', to('')],
    ['section 8.3.1: userinfo', to('u@a')],
    ['section 8.3: two authorities', [[':authority', 'b'], ...to('a')]],
    ['section 8.3: a pseudo-header field after others', [['x', '1'], ...to('a')]],
    ['section 8.3: one that nobody knows', [...to('a'), [':x', '1']]],
    ['section 8.3.1: no path', to('a', 'http', '')],
    ['section 8.2.2: Connection', [...to('a'), ['connection', 'close']]],
    ['section 8.2.2: Transfer-Encoding', [...to('a'), ['transfer-encoding', 'chunked']]],
    ['section 8.2.2: Keep-Alive', [...to('a'), ['keep-alive', '1']]],
    ['section 8.2.2: Upgrade', [...to('a'), ['upgrade', 'h2c']]],
    ['section 8.2.2: Proxy-Connection', [...to('a'), ['proxy-connection', 'close']]],
    ['section 8.2.2: TE with anything else', [...to('a'), ['te', 'gzip']]],
    ['section 8.2.1: a name in upper case', [...to('a'), ['Host', 'a']]],
    [
      'section 8.1.1: content that was announced and does not come',
      [...to('a'), ['content-length', '5']],
    ],
    ['section 8.1.1: an invalid length', [...to('a'), ['content-length', '-0']]],
    ['section 8.1.1: two lengths', [...to('a'), ['content-length', '0'], ['content-length', '0']]],
    ['RFC 9110 section 9.1: a method that is no token', [[':method', 'G T'], ...to('a').slice(1)]],
    [
      'RFC 8441 section 3: extended CONNECT',
      [[':method', 'CONNECT'], [':protocol', 'websocket'], ...to('a').slice(1)],
    ],
    ['section 8.5: CONNECT with a path', [[':method', 'CONNECT'], ...to('a:1').slice(1)]],
  ] as const)('a request over HTTP/2 is refused by the parser: %s', async (_, fields) => {
    expect(await reasonOver2(...fields)).toBe('reset');
  });
});
