import { type EventEmitter, once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Scheme } from '#shared/auth/scheme.ts';
import {
  frame,
  framesOf,
  headersFrame,
  OPENING,
  statusOn,
} from '#shared/server/wire/http2-frames.fixture.ts';
import { TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import {
  alone,
  CREDENTIALS,
  startOrigin,
  startProxy,
  startTcp,
  stopAll,
  until,
} from './proxy.fixture.ts';
import type { ProxyOptions, RunningProxy } from './proxy.fixture.ts';

const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const one of sessions.splice(0)) one.destroy();
  await stopAll();
});

const RST_STREAM = 3;
const GOAWAY = 7;
const ALICE = { 'proxy-authorization': CREDENTIALS };
const HALF_OPEN = { allowHalfOpen: true };

function session({ port }: RunningProxy): ClientHttp2Session {
  const opened = http2.connect(`http://127.0.0.1:${port}`);
  opened.on('error', () => {});
  sessions.push(opened);
  return opened;
}

/** Resolves when it is closed, for any reason. */
function closing(one: EventEmitter): Promise<void> {
  return new Promise((resolve) => void one.once('close', resolve));
}

/** Reads the answer on a stream. */
async function answerTo(stream: ClientHttp2Stream, content?: string) {
  stream.on('error', () => {});
  let trailers = {};
  let body = '';
  stream.on('trailers', (fields: object) => {
    trailers = { ...fields };
  });
  stream.setEncoding('latin1').on('data', (piece: string) => {
    body += piece;
  });
  stream.end(content);
  let fields: Record<string, string> = {};
  stream.on('response', (received: object) => {
    fields = { ...received };
  });
  await closing(stream);
  return { status: Number(fields[':status'] ?? 0), fields, body, trailers, code: stream.rstCode };
}

/** Starts a proxy to an origin that answers with the request that it got. */
async function echoing(options: ProxyOptions = {}) {
  const port = await startOrigin((request, response) => {
    let content = '';
    request.setEncoding('latin1').on('data', (piece: string) => {
      content += piece;
    });
    request.on('end', () => {
      const { method, url, rawHeaders, rawTrailers } = request;
      response.setHeader('Connection', 'X-Hop');
      response.setHeader('X-Hop', '1');
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, content }));
    });
  });
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`], ...options });
  const base = { ':scheme': 'http', ':authority': `127.0.0.1:${port}`, ':path': '/a?b=c' };
  return { proxy, client: session(proxy), base, port };
}

describe('RFC 9113 section 8.3.1: requests', () => {
  test('a request over HTTP/2 without credentials is 407, and with credentials is forwarded over HTTP/1.1', async () => {
    const { client, base } = await echoing();
    const refused = await answerTo(client.request(base));
    expect(refused).toMatchObject({ status: 407 });
    expect(refused.fields['proxy-authenticate']).toMatch(/^Basic realm="proxy"/);

    const { status, fields, body } = await answerTo(
      client.request({ ...base, ...ALICE, cookie: ['a=1', 'b=2'], te: 'trailers', 'x-a': '1' }),
    );
    expect(status).toBe(200);
    expect(fields['x-hop']).toBeUndefined();
    expect(fields['set-cookie']).toEqual(['a=1', 'b=2']);
    const asked = JSON.parse(body) as { url: string; rawHeaders: string[] };
    expect(asked.url).toBe('/a?b=c');
    expect(asked.rawHeaders).toEqual([
      'Host',
      base[':authority'],
      'x-a',
      '1',
      'Cookie',
      'a=1; b=2',
      'Via',
      expect.stringMatching(/^2\.0 countersign-/),
      'TE',
      'trailers',
      'Connection',
      'close, TE',
    ]);
  });

  test.each([
    ['with a length', { 'content-length': 5 }, ['content-length', '5']],
    ['without one', {}, ['Transfer-Encoding', 'chunked']],
  ])('content %s is forwarded over HTTP/2', async (_, more, framing) => {
    const { client, base } = await echoing();
    const stream = client.request({ ...base, ...ALICE, ':method': 'POST', ...more });
    const { status, body } = await answerTo(stream, 'hello');
    expect(status).toBe(200);
    const asked = JSON.parse(body) as { content: string; rawHeaders: string[] };
    expect(asked.content).toBe('hello');
    expect(asked.rawHeaders.join().toLowerCase()).toContain(framing.join().toLowerCase());
  });

  test('trailers are forwarded over HTTP/2', async () => {
    const { client, base } = await echoing();
    const stream = client.request(
      { ...base, ...ALICE, ':method': 'POST', trailer: 'x-sum' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'x-sum': '1', 'proxy-authorization': 'x', host: 'b' });
    });
    const { body } = await answerTo(stream, 'hello');
    expect(JSON.parse(body)).toMatchObject({ rawTrailers: ['x-sum', '1'], content: 'hello' });
  });

  test('a wrong Content-Length never becomes a complete request', async () => {
    const whole: string[] = [];
    const port = await startOrigin((request, response) => {
      request.resume().on('end', () => {
        whole.push(request.url ?? '');
        response.end();
      });
    });
    const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const base = { ':scheme': 'http', ':authority': `127.0.0.1:${port}`, ':path': '/' };
    for (const length of [3, 10]) {
      const client = session(proxy);
      const stream = client.request({
        ...base,
        ...ALICE,
        ':method': 'POST',
        'content-length': length,
      });
      expect((await answerTo(stream, 'hello')).status).not.toBe(200);
    }
    expect(whole).toEqual([]);
  });

  test.each([
    ['https', { ':scheme': 'https' }],
    ['another scheme', { ':scheme': 'ftp' }],
    ['userinfo', { ':authority': 'alice:secret@127.0.0.1' }],
    ['an address in disguise', { ':authority': '127.1' }],
    ['a Host that differs', { host: 'other.example' }],
    ['a fragment', { ':path': '/#a' }],
  ])('a request with %s is refused', async (_, more) => {
    const { client, base } = await echoing();
    const { status, body } = await answerTo(client.request({ ...base, ...ALICE, ...more }));
    expect([0, 400]).toContain(status);
    expect(body).not.toContain('"url"');
  });

  test('a request with two sets of credentials is 400', async () => {
    const { proxy, base } = await echoing();
    const client = new TestSocket(proxy.listening);
    const get = Object.entries({ ':method': 'GET', ...base, ...ALICE });
    client.socket.write(OPENING);
    client.socket.write(headersFrame(1, [...get, ['proxy-authorization', 'Basic eDp5']]));
    client.socket.write(headersFrame(3, get));
    await until(() => statusOn(3, client.received) === 200);
    expect(statusOn(1, client.received)).toBe(400);
    client.socket.destroy();
  });

  test.each<[string, [string, string][]]>([
    ['Connection', [['connection', 'x-hop']]],
    ['Transfer-Encoding', [['transfer-encoding', 'chunked']]],
    ['Upgrade', [['upgrade', 'websocket']]],
    ['Proxy-Connection', [['proxy-connection', 'keep-alive']]],
    ['TE other than trailers', [['te', 'gzip']]],
    ['a name in upper case', [['X-A', '1']]],
    ['a second :path', [[':path', '/b']]],
    [
      'a pseudo-header field behind others',
      [
        ['x-a', '1'],
        [':method', 'POST'],
      ],
    ],
  ])('RFC 9113 section 8.1.1: %s is malformed, and is not forwarded', async (_, fields) => {
    const { port, sockets } = await startTcp(() => {});
    const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const client = new TestSocket(proxy.listening);
    const base = {
      ':method': 'GET',
      ':scheme': 'http',
      ':authority': `127.0.0.1:${port}`,
      ':path': '/',
    };
    client.socket.write(OPENING);
    client.socket.write(headersFrame(1, [...Object.entries({ ...base, ...ALICE }), ...fields]));
    await until(
      () =>
        client.socket.destroyed ||
        framesOf(client.received).some(({ type }) => type === RST_STREAM || type === GOAWAY),
    );
    expect(statusOn(1, client.received)).toBe(0);
    expect(sockets.size).toBe(0);
    client.socket.destroy();
  });

  test.each([
    ['a name that is no token', 'x a', '1'],
    ['CR and LF in a value', 'x-a', '1\r\nHost: b'],
    ['NUL in a value', 'x-a', '1\0'],
    ['a control character in a value', 'x-a', '1\x01'],
  ])('RFC 9113 section 8.2.1: a field with %s is not forwarded', async (_, name, value) => {
    const { proxy, base } = await echoing();
    const client = new TestSocket(proxy.listening);
    const fields = Object.entries({ ':method': 'GET', ...base, ...ALICE });
    client.socket.write(OPENING);
    client.socket.write(headersFrame(1, [...fields, [name, value]]));
    await until(() =>
      framesOf(client.received).some(({ type, stream }) => type === 0 && stream === 1),
    );
    expect(statusOn(1, client.received)).toBe(200);
    expect(client.received).not.toMatch(/x.a/);
    client.socket.destroy();
  });

  test('RFC 9110 section 15.2: interim answers and trailers are returned', async () => {
    const port = await startOrigin((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('a');
      response.addTrailers({ 'X-Sum': '1' });
      response.end();
    });
    const client = session(await startProxy({ destinations: [`127.0.0.1:${port}`] }));
    const stream = client.request({
      ':scheme': 'http',
      ':authority': `127.0.0.1:${port}`,
      ':path': '/',
      ...ALICE,
    });
    const hints: unknown[] = [];
    stream.on('headers', (fields: object) => void hints.push({ ...fields }));
    const { status, trailers } = await answerTo(stream);
    expect(status).toBe(200);
    expect(hints).toMatchObject([{ ':status': 103, link: '</a>; rel=preload' }]);
    expect(trailers).toMatchObject({ 'x-sum': '1' });
  });

  test('RFC 9110 section 10.1.1: the proxy passes on 100 Continue over HTTP/2', async () => {
    const { client, base } = await echoing();
    const stream = client.request({ ...base, ...ALICE, ':method': 'PUT', expect: '100-continue' });
    await once(stream, 'continue');
    const { status, body } = await answerTo(stream, 'hello');
    expect(status).toBe(200);
    expect(body).toContain('"content":"hello"');
  });

  test('an aborted answer resets the stream, and the connection stays', async () => {
    const { port } = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    });
    const client = session(await startProxy({ destinations: [`127.0.0.1:${port}`] }));
    const base = { ':scheme': 'http', ':authority': `127.0.0.1:${port}`, ':path': '/' };
    const { code } = await answerTo(client.request({ ...base, ...ALICE }));
    expect(code).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
    expect((await answerTo(client.request(base))).status).toBe(407);
  });

  test.each([
    ['a status beyond all', 'HTTP/1.1 999 No\r\n\r\n'],
    ['407', 'HTTP/1.1 407 No\r\n\r\n'],
  ])('an answer with %s is 502', async (_, bytes) => {
    const { port } = await startTcp((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    const client = session(await startProxy({ destinations: [`127.0.0.1:${port}`] }));
    const base = { ':scheme': 'http', ':authority': `127.0.0.1:${port}`, ':path': '/' };
    expect((await answerTo(client.request({ ...base, ...ALICE }))).status).toBe(502);
  });

  test("a client's reset of its stream aborts the request to the origin", async () => {
    const { port, sockets } = await startTcp((socket) => socket.resume());
    const client = session(await startProxy({ destinations: [`127.0.0.1:${port}`] }));
    const base = { ':scheme': 'http', ':authority': `127.0.0.1:${port}`, ':path': '/' };
    const stream = client.request({ ...base, ...ALICE });
    stream.on('error', () => {});
    await until(() => sockets.size > 0);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await until(() => sockets.size === 0);
  });

  test('RFC 9113 section 7: credentials bound to a connection reset the stream with HTTP_1_1_REQUIRED', async () => {
    const ticket: Scheme = {
      ...alone,
      authenticate: () => ({
        kind: 'refused',
        refusal: 'other-scheme',
        reason: 'legs',
        as: 'http-1.1',
      }),
    };
    const { client, base, port } = await echoing({ schemes: [ticket] });
    for (const fields of [base, { ':method': 'CONNECT', ':authority': `127.0.0.1:${port}` }]) {
      const { code } = await answerTo(client.request({ ...fields, ...ALICE }));
      expect(code).toBe(http2.constants.NGHTTP2_HTTP_1_1_REQUIRED);
    }
  });
});

describe('RFC 9113 section 8.5: CONNECT', () => {
  const echo = (socket: Socket) => void socket.pipe(socket);

  async function tunnelling(serve: (socket: Socket) => void, options: ProxyOptions = {}) {
    const { port, sockets } = await startTcp(serve, HALF_OPEN);
    const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`], ...options });
    const client = session(proxy);
    const fields = { ':method': 'CONNECT', ':authority': `127.0.0.1:${port}` };
    async function open(): Promise<ClientHttp2Stream> {
      const stream = client.request({ ...fields, ...ALICE });
      stream.on('error', () => {});
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      expect(answer[':status']).toBe(200);
      expect(answer['content-length']).toBeUndefined();
      return stream;
    }
    return { proxy, client, fields, open, sockets, port };
  }

  test('a CONNECT stream is the tunnel, alongside other streams', async () => {
    const { open, client, fields } = await tunnelling(echo);
    const streams = [await open(), await open()];
    expect((await answerTo(client.request(fields))).status).toBe(407);
    for (const stream of streams) {
      stream.write('hello');
      expect(String((await once(stream, 'data'))[0])).toBe('hello');
    }
  });

  test('each side of a tunnel ends independently', async () => {
    const { open, proxy } = await tunnelling((socket) => {
      socket.write('first ');
      socket.on('data', () => {});
      socket.on('end', () => socket.end('last'));
    });
    const stream = await open();
    let received = '';
    stream.on('data', (piece: Buffer) => {
      received += piece.toString();
    });
    stream.end('bye');
    await closing(stream);
    expect(received).toBe('first last');
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await until(() => proxy.lines.length > 0);
    expect(proxy.lines).toMatchObject([{ end: 'done', sent: 3, received: 10 }]);
  });

  test("a reset by the tunnel's server is CONNECT_ERROR", async () => {
    const { open, sockets } = await tunnelling((socket) => socket.resume());
    const stream = await open();
    const closed = closing(stream);
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_CONNECT_ERROR);
  });

  test("the loss of the client's connection resets the server's side of a tunnel", async () => {
    const errors: unknown[] = [];
    const { open, proxy, sockets } = await tunnelling((socket) => {
      socket.resume().on('error', (error) => errors.push(error));
    });
    const stream = await open();
    stream.session?.socket.resetAndDestroy();
    await until(() => sockets.size === 0);
    expect(errors).toMatchObject([{ code: 'ECONNRESET' }]);
    await until(() => proxy.lines.some(({ end }) => end === 'client'));
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    "RFC 9113 section 5.1: the loss of the connection after END_STREAM resets the server's side, too: %s",
    async (leave) => {
      let ended = false;
      const { proxy, port } = await tunnelling((socket) => {
        socket.resume().once('end', () => {
          ended = true;
        });
      });
      const client = new TestSocket(proxy.listening);
      const ask = [
        [':method', 'CONNECT'],
        [':authority', `127.0.0.1:${port}`],
        ['proxy-authorization', CREDENTIALS],
      ] as const;
      client.socket.write(Buffer.concat([OPENING, headersFrame(1, ask, { endStream: false })]));
      await until(() => statusOn(1, client.received) === 200);
      client.socket.write(frame(0, 1, 1, Buffer.from('bye')));
      await until(() => ended);
      client.socket[leave]();
      await until(() => proxy.lines.some(({ end, sent }) => end === 'client' && sent === 3));
    },
  );

  test.each([
    ['no port', { ':authority': '127.0.0.1' }, 400],
    ['a destination that is refused', { ':authority': '169.254.169.254:80' }, 403],
    ['content', { 'content-length': 0 }, 400],
    [
      'extended CONNECT, which is not offered',
      { ':protocol': 'websocket', ':path': '/', ':scheme': 'http' },
      0,
    ],
  ])('CONNECT to %s is refused', async (_, more, expected) => {
    const { client, fields, sockets } = await tunnelling(echo);
    const { status } = await answerTo(client.request({ ...fields, ...ALICE, ...more }));
    expect(status).toBe(expected);
    expect(sockets.size).toBe(0);
  });

  test.each<[string, [string, string][]]>([
    ['a path', [[':path', '/']]],
    ['a scheme', [[':scheme', 'http']]],
    ['no authority', []],
  ])('a CONNECT with %s is malformed', async (what, fields) => {
    const { proxy, port, sockets } = await tunnelling(echo);
    const authority: [string, string][] = [[':authority', `127.0.0.1:${port}`]];
    const client = new TestSocket(proxy.listening);
    client.socket.write(OPENING);
    client.socket.write(
      headersFrame(1, [
        [':method', 'CONNECT'],
        ...(what === 'no authority' ? [] : authority),
        ...fields,
        ...Object.entries(ALICE),
      ]),
    );
    await until(() => framesOf(client.received).some(({ type }) => type === RST_STREAM));
    expect(statusOn(1, client.received)).toBe(0);
    expect(sockets.size).toBe(0);
    client.socket.destroy();
  });

  test.each([
    ['CANCEL', http2.constants.NGHTTP2_CANCEL],
    ['NO_ERROR', http2.constants.NGHTTP2_NO_ERROR],
  ])('a reset of the stream, %s, is a reset at the server, not a clean end', async (_, code) => {
    const seen: string[] = [];
    const { proxy, port, sockets } = await tunnelling((socket) => {
      socket.resume();
      socket.on('end', () => seen.push('end')).on('error', () => seen.push('error'));
    });
    const client = new TestSocket(proxy.listening);
    client.socket.write(OPENING);
    const connect = { ':method': 'CONNECT', ':authority': `127.0.0.1:${port}`, ...ALICE };
    client.socket.write(headersFrame(1, Object.entries(connect), { endStream: false }));
    await until(() => statusOn(1, client.received) === 200);
    client.socket.write(frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code])));
    await until(() => sockets.size === 0);
    expect(seen).toEqual(['error']);
    client.socket.destroy();
  });

  test('tunnel streams count towards the limit of tunnels, and are released', async () => {
    const { open, client, fields, proxy } = await tunnelling(echo, { tunnels: 1 });
    const stream = await open();
    const refused = await answerTo(client.request({ ...fields, ...ALICE }));
    expect(refused).toMatchObject({ status: 503, fields: { 'retry-after': '1' } });
    stream.close();
    await until(() => proxy.lines.length > 1);
    await open();
  });

  test('a tunnel ends when its total time has passed', async () => {
    const { open, proxy } = await tunnelling((socket) => socket.resume(), { idle: 0.05 });
    const stream = await open();
    await closing(stream);
    await until(() => proxy.lines.length > 0);
    expect(proxy.lines).toMatchObject([{ end: 'idle' }]);
  });

  test('an idle connection is closed unless it has a tunnel', async () => {
    const { open, client } = await tunnelling(echo, { limits: { idleTimeout: 100 } });
    const stream = await open();
    await new Promise((resolve) => setTimeout(resolve, 400));
    stream.write('still');
    expect(String((await once(stream, 'data'))[0])).toBe('still');
    stream.close();
    await closing(client);
  });

  test('closing the server lets streams finish, and ends tunnels after the grace period', async () => {
    const { open, proxy } = await tunnelling(echo);
    const stream = await open();
    const closed = proxy.listening.close(150);
    stream.write('still');
    expect(String((await once(stream, 'data'))[0])).toBe('still');
    await closed;
  });
});
