/** @needs openssl */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import http2, { type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { jsonLog, type Log, silentLog } from '#shared/base/log.ts';
import { frame, framesOf, headersFrame, OPENING, statusOn } from '../wire/http2-frames.fixture.ts';
import { listen, type Listening, type ServerLimits } from './listen.ts';
import type { AnyHandler } from '../message/message.ts';
import type { TunnelHandler } from '../tunnels/tunnel.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import type { Certificate } from './versions.ts';

const open: Listening[] = [];
const clients: (ClientHttp2Session | Socket)[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

const hello: AnyHandler = (request, response) => {
  response.setHeader('X-Version', request.httpVersion);
  end(response, 'hello');
};

function end(response: Writable, text?: string): void {
  response.end(text);
}

interface Options {
  readonly handler?: AnyHandler;
  readonly limits?: Partial<ServerLimits>;
  readonly certificate?: Certificate;
  readonly tunnel?: TunnelHandler;
  readonly log?: Log;
}

/** Starts a port that supports both versions. */
async function start({ handler = hello, certificate, log = silentLog, ...more }: Options = {}) {
  const both = { handler, http2: { handler, certificate }, host: '127.0.0.1', port: 0 };
  const listening = await listen({ ...both, log, ...more });
  open.push(listening);
  return listening;
}

function session(origin: string, options = {}): ClientHttp2Session {
  const client = http2.connect(origin, options);
  client.on('error', () => {});
  clients.push(client);
  return client;
}

async function get(client: ClientHttp2Session, fields = {}, content?: string) {
  const stream = client.request({ ':path': '/', ...fields });
  stream.on('error', () => {});
  let body = '';
  let head: Record<string, unknown> = {};
  stream.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  stream.on('response', (received: object) => {
    head = { ...received };
  });
  stream.end(content);
  await new Promise((resolve) => void stream.once('close', resolve));
  return { status: Number(head[':status'] ?? 0), head, body, code: stream.rstCode };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

test('RFC 9113 section 6.8: a client that sends GOAWAY and stays is disconnected', async () => {
  const { port } = await start({ limits: { headersTimeout: 50 } });
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(client);
  const gone = new Promise((resolve) => client.once('error', resolve));
  client.resume();
  client.write(Buffer.concat([OPENING, frame(7, 0, 0, Buffer.alloc(8))]));
  await once(client, 'end');
  // A write to a closed connection, not only a shut-down one, fails.
  while (!client.destroyed) {
    client.write('x');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await gone).toMatchObject({ code: expect.stringMatching(/^(ECONNRESET|EPIPE)$/) });
});

describe('RFC 9113 section 3.4: one port in clear text', () => {
  test('one port serves HTTP/1.1 and HTTP/2, as each client asks', async () => {
    const listening = await start();
    expect(await exchange(listening, GET)).toMatch(/^x-version: 1\.1\r$/im);
    const { status, head, body } = await get(session(`http://127.0.0.1:${listening.port}`));
    expect([status, head['x-version'], body]).toEqual([200, '2.0', 'hello']);
  });

  test.each(Array.from({ length: 24 }, (_, index) => index + 1))(
    'accepts a preface that is split after byte %i',
    async (index) => {
      const { port } = await start();
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      clients.push(socket);
      let received = '';
      socket.on('data', (data: Buffer) => {
        received += data.toString('latin1');
      });
      socket.write(OPENING.subarray(0, index));
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.write(OPENING.subarray(index));
      socket.write(
        headersFrame(1, [
          [':method', 'GET'],
          [':scheme', 'http'],
          [':authority', 'a'],
          [':path', '/'],
        ]),
      );
      while (statusOn(1, received) !== 200) await once(socket, 'data');
    },
  );

  test.each(['P', 'PR', 'PRI', 'PRI ', 'PRI * HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r'])(
    'the octets %j, which begin like the preface, are read as HTTP/1.1',
    async (bytes) => {
      const client = new TestSocket(await start());
      client.socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 5));
      client.socket.write('X / HTTP/1.1\r\n\r\n');
      const [status = 0] = statuses(await client.all);
      expect([400, 501, 505]).toContain(status);
    },
  );

  test('a request that arrives byte by byte is read', async () => {
    const client = new TestSocket(await start());
    for (const byte of GET) await client.send(byte);
    expect(statuses(await client.all)).toEqual([200]);
  });

  test('several requests in one read are answered', async () => {
    const keep = GET.replace('Connection: close\r\n', '');
    expect(statuses(await exchange(await start(), keep + keep + GET))).toEqual([200, 200, 200]);
  });

  test.each(['', 'P', 'PRI * HTTP/2.0\r\n'])(
    'a client that sends only %j is disconnected',
    async (bytes) => {
      const { port } = await start({ limits: { headersTimeout: 50 } });
      const socket = connect({ port, host: '127.0.0.1' }).resume();
      clients.push(socket);
      socket.write(bytes);
      await once(socket, 'close');
    },
  );

  test('RFC 9110 section 15.5.9: half a request of HTTP/1.1 gets 408', async () => {
    const limits = { headersTimeout: 50, requestTimeout: 60, checkInterval: 10 };
    expect(statuses(await exchange(await start({ limits }), 'GET / HT'))).toEqual([408]);
  });

  test.each(['', 'PRI'])(
    'a client that resets the connection after %j does not disturb the server',
    async (bytes) => {
      const listening = await start();
      const socket = connect({ port: listening.port, host: '127.0.0.1' });
      await once(socket, 'connect');
      if (bytes !== '') await new Promise((resolve) => void socket.write(bytes, resolve));
      socket.resetAndDestroy();
      expect(statuses(await exchange(listening, GET))).toEqual([200]);
    },
  );

  test('closing ends connections without octets, and with half a preface', async () => {
    const listening = await start();
    const sockets = ['', 'PRI *'].map((bytes) => {
      const socket = connect({ port: listening.port, host: '127.0.0.1' }).resume();
      clients.push(socket);
      socket.write(bytes);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await listening.close(60_000);
  });
});

describe('HTTP/2', () => {
  test('a handler that fails gives 500 without the message, or resets the stream if the answer has begun', async () => {
    const { port } = await start({
      handler: (request, response) => {
        const content: Writable = response;
        if (request.url === '/late') content.write('half');
        throw new Error('secret');
      },
    });
    const client = session(`http://127.0.0.1:${port}`);
    const early = await get(client);
    expect(early.status).toBe(500);
    expect(early.body).not.toContain('secret');
    const late = await get(client, { ':path': '/late' });
    expect(late.code).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
  });

  test('RFC 9110 section 15.5.15: a target that is too long gets 414', async () => {
    const { port } = await start({ limits: { targetBytes: 100 } });
    const client = session(`http://127.0.0.1:${port}`);
    expect((await get(client, { ':path': `/${'a'.repeat(100)}` })).status).toBe(414);
  });

  test('a header section that is too large is refused over HTTP/2', async () => {
    const { port } = await start({ limits: { headerBytes: 4096 } });
    const client = session(`http://127.0.0.1:${port}`);
    await once(client, 'remoteSettings');
    const fields = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'a'.repeat(200)]),
    );
    expect((await get(client, fields)).status).not.toBe(200);
  });

  test('RFC 9110 section 10.1.1: Expect works over HTTP/2', async () => {
    const { port } = await start({
      handler: (request, response) => {
        if (request.url === '/refuses') {
          response.statusCode = 401;
          end(response);
          return;
        }
        const content: Readable = request;
        content.resume().on('end', () => end(response, 'read'));
      },
    });
    const client = session(`http://127.0.0.1:${port}`);
    const put = { ':method': 'PUT', expect: '100-continue' };
    const stream = client.request({ ':path': '/', ...put });
    await once(stream, 'continue');
    stream.end('content');
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head[':status']).toBe(200);
    stream.resume();

    let asked = false;
    const refused = client.request({ ':path': '/refuses', ...put });
    refused.on('continue', () => {
      asked = true;
    });
    const [refusal] = (await once(refused, 'response')) as [Record<string, unknown>];
    expect([refusal[':status'], asked]).toEqual([401, false]);
    refused.destroy();

    expect((await get(client, { expect: 'tea' })).status).toBe(417);
  });

  test('RFC 9110 section 9.3.6: CONNECT is 501 at a server without tunnels', async () => {
    const { port } = await start();
    const client = session(`http://127.0.0.1:${port}`);
    const stream = client.request({ ':method': 'CONNECT', ':authority': 'a:1' });
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head[':status']).toBe(501);
    stream.destroy();
  });

  test.each(['a', 'a:', 'a:0', 'a:65536'])(
    'RFC 9110 section 9.3.6: CONNECT without a valid port gets 400: %s',
    async (authority) => {
      const { port } = await start();
      const client = session(`http://127.0.0.1:${port}`);
      const stream = client.request({ ':method': 'CONNECT', ':authority': authority });
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
      expect(head[':status']).toBe(400);
      stream.destroy();
    },
  );

  test.each(['BAN', 'PURGE', 'PRI', 'foo', 'get', "!#$%&'*+-.^_`|~0"])(
    'RFC 9110 section 9.1: every method reaches the handler unchanged: %s',
    async (method) => {
      const { port } = await start({
        handler: (request, response) => end(response, `${request.method} ${request.url}`),
      });
      const client = session(`http://127.0.0.1:${port}`);
      expect((await get(client, { ':method': method })).body).toBe(`${method} /`);
    },
  );

  test('a tunnel that fails is reset, and the connection stays open', async () => {
    const tunnel: TunnelHandler = () => Promise.reject(new Error('secret'));
    const { port } = await start({ tunnel });
    const client = session(`http://127.0.0.1:${port}`);
    const stream = client.request({ ':method': 'CONNECT', ':authority': 'a:1' });
    stream.on('error', () => {});
    await new Promise((resolve) => void stream.once('close', resolve));
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
    expect((await get(client)).status).toBe(200);
  });

  test('unread content of one stream does not block other streams', async () => {
    const { port } = await start();
    const client = session(`http://127.0.0.1:${port}`);
    for (let upload = 0; upload < 5; upload += 1) {
      const { status } = await get(client, { ':method': 'PUT' }, 'x'.repeat(1_000_000));
      expect(status).toBe(200);
    }
  });

  test('an idle connection is closed', async () => {
    const { port } = await start({ limits: { idleTimeout: 50 } });
    const client = session(`http://127.0.0.1:${port}`);
    await get(client);
    await new Promise((resolve) => void client.once('close', resolve));
  });

  test.each([
    ['at once', 0],
    ['later', 1],
  ])('RFC 9113 section 5.1: the connection ends if the client closes it, %s', async (_, later) => {
    const { port } = await start();
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    clients.push(socket);
    socket.write(OPENING);
    if (later) await once(socket, 'data');
    socket.resume().end();
    await once(socket, 'close');
  });

  test('a connection that violates the protocol is closed, and leaves a log line', async () => {
    const lines: string[] = [];
    const log = jsonLog(
      (line) => void lines.push(line),
      { now: () => 0, monotonic: () => 0 },
      'test',
    );
    const listening = await start({ log });
    const client = new TestSocket(listening);
    client.socket.write(OPENING);
    client.socket.write(Buffer.alloc(1000, 0xff));
    const received = await client.all;
    expect(framesOf(received).some(({ type }) => type === 7)).toBe(true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ event: 'refused' }]);
    expect(statuses(await exchange(listening, GET))).toEqual([200]);
  });

  test('RFC 9113 section 6.8: closing lets open streams finish and accepts no new streams', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = await start({
      handler: async (_request, response) => {
        await promise;
        end(response, 'finished');
      },
    });
    const client = session(`http://127.0.0.1:${listening.port}`);
    const answer = get(client);
    await once(client, 'remoteSettings');
    await new Promise((later) => setTimeout(later, 20));
    const closed = listening.close(60_000);
    await once(client, 'goaway');
    resolve();
    expect((await answer).body).toBe('finished');
    await closed;
  });

  test('RFC 9113 section 6.8: requests before the GOAWAY are served, and GOAWAY names the last of them', async () => {
    const listening = await start();
    const client = new TestSocket(listening);
    const ask = (stream: number) => {
      const names = [':method', ':scheme', ':authority', ':path'];
      const values = ['GET', 'http', 'a', '/'];
      client.socket.write(
        headersFrame(
          stream,
          names.map((name, at) => [name, values[at] ?? '']),
        ),
      );
    };
    client.socket.write(OPENING);
    ask(1);
    await client.until('hello');
    const closed = listening.close(60_000);
    await new Promise((later) => setTimeout(later, 20));
    ask(3);
    const received = await client.all;
    expect(statusOn(3, received)).toBe(200);
    const announced = framesOf(received).filter(({ type }) => type === 7);
    const last = announced.map(({ payload }) => payload.readUInt32BE(0));
    expect(new Set(last)).toEqual(new Set([3])); // node:http2 reports it again at its end
    expect(client.reset).toBe(false);
    await closed;
  });

  test('closing destroys the remaining streams when the grace period is over', async () => {
    const listening = await start({ handler: () => {} });
    const answer = get(session(`http://127.0.0.1:${listening.port}`));
    await new Promise((later) => setTimeout(later, 20));
    await listening.close(10);
    expect((await answer).status).toBe(0);
  });
});

describe('RFC 9113 section 3.2: one port with TLS', () => {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const files = ['-subj', '/CN=localhost', '-keyout', '-', '-out', '-'];
  const made = execFileSync('openssl', ['req', '-x509', ...kind, ...files], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
  const [key = '', cert = ''] = made.split(/(?<=-----END PRIVATE KEY-----\n)/);
  const certificate = { key, cert };

  test('HTTP/2 is chosen by ALPN', async () => {
    const { port } = await start({ certificate });
    const client = session(`https://localhost:${port}`, { rejectUnauthorized: false });
    expect(await get(client)).toMatchObject({ status: 200, head: { 'x-version': '2.0' } });
  });

  test('RFC 9113 section 5.1: HTTP/2 ends when the client closes the connection', async () => {
    const { port } = await start({ certificate });
    const to = { port, host: '127.0.0.1', rejectUnauthorized: false, allowHalfOpen: true };
    const socket = connectTls({ ...to, ALPNProtocols: ['h2'] });
    clients.push(socket);
    socket.write(OPENING);
    await once(socket, 'data');
    socket.resume().end();
    await once(socket, 'end');
  });

  test.each([['http/1.1'], [undefined]])('HTTP/1.1 is served with ALPN %s', async (protocol) => {
    const { port } = await start({ certificate });
    const ALPNProtocols = protocol === undefined ? [] : [protocol];
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols,
    });
    clients.push(socket);
    socket.write(GET);
    let received = '';
    for await (const piece of socket) received += String(piece);
    expect(received).toMatch(/^x-version: 1\.1\r$/im);
  });

  test('RFC 9113 section 9.2.1: a client cannot renegotiate', async () => {
    const { port } = await start({ certificate });
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
    });
    clients.push(socket);
    await once(socket, 'secureConnect');
    const outcome = new Promise<Error | null>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({ rejectUnauthorized: false }, resolve);
    });
    expect(await outcome).toMatchObject({ message: expect.stringMatching(/no renegotiation/i) });
  });

  test.each([
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA',
    'ECDHE-ECDSA-CAMELLIA256-SHA384',
    'ECDHE-ECDSA-AES256-CCM',
    'ECDHE-ECDSA-ARIA256-GCM-SHA384',
  ])('RFC 9113 section 9.2.2: the cipher suite %s is refused', async (ciphers) => {
    const { port } = await start({ certificate });
    const to = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = connectTls({ ...to, ciphers, maxVersion: 'TLSv1.2' });
    clients.push(socket);
    const [error] = (await once(socket, 'error').catch((reason: unknown) => [reason])) as [Error];
    expect(error.message).toMatch(/handshake failure/i);
  });

  test('RFC 7301 section 3.2: a client that offers neither protocol is refused', async () => {
    const { port } = await start({ certificate });
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['smtp'],
    });
    clients.push(socket);
    const [error] = (await once(socket, 'error').catch((reason: unknown) => [reason])) as [Error];
    expect(error.message).toMatch(/no application protocol/i);
  });

  test('clear text and a TLS handshake that never ends do not disturb the server', async () => {
    const listening = await start({ certificate, limits: { headersTimeout: 50 } });
    for (const bytes of [GET, '\x16\x03\x01']) {
      const socket = connect({ port: listening.port, host: '127.0.0.1' }).resume();
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      await new Promise((resolve) => void socket.once('close', resolve));
    }
    const client = session(`https://localhost:${listening.port}`, { rejectUnauthorized: false });
    expect((await get(client)).status).toBe(200);
  });

  test.each([GET, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'])(
    'a request in clear text gets 400 with an explanation, and the connection ends: %j',
    async (request) => {
      const { port } = await start({ certificate });
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      clients.push(socket);
      socket.write(request);
      let received = '';
      for await (const piece of socket) received += String(piece);
      expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(received).toContain('This port speaks TLS.');
    },
  );

  test('closing ends TLS handshakes when the grace period is over', async () => {
    const listening = await start({ certificate });
    const socket = connect({ port: listening.port, host: '127.0.0.1' }).resume();
    clients.push(socket);
    await once(socket, 'connect');
    await listening.close(20);
  });
});
