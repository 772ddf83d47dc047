import { once } from 'node:events';
import { expect, test, describe } from '@jest/globals';
import * as fc from 'fast-check';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import { silentLog } from '#shared/base/log.ts';
import { type Handler, listen } from './listen.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { CLOSING_GET, echo, GET, hello, open, problemOf, start } from '../wire/wire.fixture.ts';

describe('RFC 9110 section 9.1: a method that the parser does not know, after another request', () => {
  test.each(['BAN', 'get', 'PRI', 'FOO', "!#$%&'*+-.^_`|~0"])('%s is 501', async (method) => {
    const client = new TestSocket(await start());
    await client.send(GET);
    await client.until('hello');
    await client.send(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
    const received = await client.all;
    expect(statuses(received)).toEqual([200, 501]);
    expect(problemOf(received.slice(received.indexOf('hello') + 5)).title).toBe('Not Implemented');
  });

  const line = 'BAN /x HTTP/1.1\r\n';
  test.each(Array.from(line, (_, index) => index).slice(1))(
    'is 501 when the request line is split after byte %i',
    async (index) => {
      const client = new TestSocket(await start());
      await client.send(GET);
      await client.send(line.slice(0, index));
      await client.send(`${line.slice(index)}Host: a\r\n\r\n`);
      expect(statuses(await client.all)).toEqual([200, 501]);
    },
  );

  test('an unknown method after another request gets 501, even if the request line comes byte by byte', async () => {
    const client = new TestSocket(await start());
    await client.send(GET);
    for (const byte of line) await client.send(byte);
    expect(statuses(await client.all)).toEqual([200, 501]);
  });

  test.each(['M', 'MK', 'P', 'PR', 'PRI', 'PRI ', 'BA', 'GET', '\r\nM', 'x'])(
    '%j before a complete request makes both one request: no part of a method is lost',
    async (before) => {
      const asked: string[] = [];
      const listening = await start(({ method, url }, response) => {
        asked.push(`${method} ${url}`);
        response.end('hello');
      });
      const client = new TestSocket(listening);
      await client.send(GET);
      await client.until('hello');
      await client.send(before);
      for (let again = 0; again < 3; again += 1) {
        await client.send('DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n');
      }
      const [, refused = 0, ...more] = statuses(await client.all);
      expect([asked, more]).toEqual([['GET /'], []]);
      expect([400, 501]).toContain(refused);
    },
  );

  test('an unknown method is answered after the response to the request before it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = await start(async (_request, response) => {
      response.write('first ');
      await promise;
      response.end('finished');
    });
    const client = new TestSocket(listening);
    await client.send(`${GET}BAN / HTTP/1.1\r\n\r\n`);
    await client.until('first ');
    resolve();
    const received = await client.all;
    expect(statuses(received)).toEqual([200, 501]);
    expect(received.indexOf('finished')).toBeLessThan(received.indexOf(' 501 '));
  });

  test('an unknown method is answered after the responses to all requests before it', async () => {
    const pending: (() => void)[] = [];
    const listening = await start((request, response) => {
      pending.push(() => response.end(request.url));
    });
    const client = new TestSocket(listening);
    await client.send(
      `GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nBAN / HTTP/1.1\r\n\r\n`,
    );
    while (pending.length < 2) await turn();
    for (const finish of pending.toReversed()) finish();
    expect(statuses(await client.all)).toEqual([200, 200, 501]);
  });
});

describe('RFC 9112 section 2.2: octets that are no request get 400', () => {
  test.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x00\xa5\x01\x00'],
    ['a method with a bad version', 'BAN / HTTP/x\r\n\r\n'],
    ['a method without a target', 'BAN HTTP/1.1\r\n\r\n'],
    ['two spaces', 'BAN  / HTTP/1.1\r\n\r\n'],
    ['a control character in an unknown method', 'BA\x00N / HTTP/1.1\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
    [
      'Content-Length and Transfer-Encoding',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    ['an invalid version', 'GET / HTTP/x.y\r\nHost: a\r\n\r\n'],
    ['a bare LF at the end of the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['bare LFs throughout', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['a bare LF behind a method that nobody knows', 'BAN / HTTP/1.1\nHost: a\r\n\r\n'],
    ['a bare LF behind a version that nobody knows', 'GET / HTTP/3.0\nHost: a\r\n\r\n'],
    ['a bare LF behind a field', 'GET / HTTP/1.1\r\nHost: a\n\r\n'],
    ['a bare LF at the end of the fields', 'GET / HTTP/1.1\r\nHost: a\r\n\n'],
    ['a bare CR', 'GET / HTTP/1.1\rHost: a\r\n\r\n'],
  ])('a request with %s gets 400', async (_, bytes) => {
    expect(problemOf(await exchange(await start(), bytes))).toMatchObject({ status: 400 });
  });

  test('a bare LF that arrives alone gets 400', async () => {
    const client = new TestSocket(await start());
    for (const part of ['GET / HTTP/1.1', '\n', 'Host: a\r\n\r\n']) await client.send(part);
    expect(problemOf(await client.all).status).toBe(400);
  });

  test('a request that ends in the middle gets 400', async () => {
    const client = new TestSocket(await start());
    client.socket.end('GET / HT');
    expect(problemOf(await client.all).status).toBe(400);
  });

  test('random octets never stop the server and never get a success', async () => {
    const listening = await start();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 300 }),
          fc.string({ minLength: 1 }).map((text) => Buffer.from(`${text} / HTTP/1.1\r\n\r\n`)),
        ),
        async (bytes) => {
          const client = new TestSocket(listening);
          client.socket.end(bytes);
          expect(statuses(await client.all).filter((status) => status < 400)).toEqual([]);
        },
      ),
      { numRuns: 60, examples: [[Buffer.from('\r\n')]] },
    );
    expect(statuses(await exchange(listening, CLOSING_GET))).toEqual([200]);
  });

  test('a connection that is reset after invalid octets does not disturb the server', async () => {
    const listening = await start();
    const client = new TestSocket(listening);
    await client.send('garbage');
    client.socket.resetAndDestroy();
    await client.all;
    expect(statuses(await exchange(listening, CLOSING_GET))).toEqual([200]);
  });
});

describe('RFC 9112 section 6.3: malformed content', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

  test('malformed content gets 400 while the handler waits for it', async () => {
    const cut = Promise.withResolvers<void>();
    const listening = await start(async (request, response) => {
      await echo(request).catch(() => cut.resolve());
      response.end('never');
    });
    const received = await exchange(listening, `${POST}zz\r\n`);
    expect(problemOf(received).status).toBe(400);
    await cut.promise;
  });

  test('malformed content after the answer causes no second answer', async () => {
    const client = new TestSocket(await start());
    await client.send(POST);
    await client.until('hello');
    await client.send('zz\r\n');
    expect(statuses(await client.all)).toEqual([200]);
  });

  test('malformed content in the middle of the answer ends the connection', async () => {
    const client = new TestSocket(await start((_request, response) => void response.write('half')));
    await client.send(POST);
    await client.until('half');
    await client.send('zz\r\n');
    expect(statuses(await client.all)).toEqual([200]);
  });
});

describe('RFC 9110 section 10.1.1: Expect', () => {
  const PUT = 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';
  const reading: Handler = async (request, response) => void response.end(await echo(request));
  const refusing: Handler = (_request, response) => void response.writeHead(401).end('no');

  test('an unknown expectation gets 417', async () => {
    const received = await exchange(
      await start(),
      'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n',
    );
    expect(problemOf(received).status).toBe(417);
  });

  test('a handler that refuses before the content is sent closes the connection', async () => {
    const received = await exchange(await start(refusing), PUT);
    expect(statuses(received)).toEqual([401]);
    expect(received).toMatch(/^connection: close$/im);
  });

  test('octets after a refusal are not taken for a request', async () => {
    const seen: (string | undefined)[] = [];
    const listening = await start((request, response) => {
      seen.push(request.url);
      response.writeHead(401).end();
    });
    expect(
      statuses(await exchange(listening, `${PUT}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`)),
    ).toEqual([401]);
    expect(seen).toEqual(['/']);
  });

  test('100 is sent when the handler begins to read', async () => {
    const client = new TestSocket(await start(reading));
    await client.send(PUT);
    expect(statuses(await client.until('100 Continue'))).toEqual([100]);
    await client.send('hello');
    expect(statuses(await client.until('\r\n\r\nhello'))).toEqual([100, 200]);
    await client.send(CLOSING_GET);
    expect(statuses(await client.all)).toEqual([100, 200, 200]);
  });

  test('100 is sent, too, if the handler reads by events or discards the content', async () => {
    for (const handler of [
      (request, response) => request.on('data', () => {}).on('end', () => response.end('hello')),
      (request, response) => request.on('end', () => response.end('hello')).resume(),
    ] satisfies ((...exchange: Parameters<Handler>) => unknown)[]) {
      const client = new TestSocket(await start((...args) => void handler(...args)));
      await client.send(PUT);
      await client.until('100 Continue');
      await client.send('12345');
      expect(statuses(await client.until('hello'))).toEqual([100, 200]);
    }
  });

  test('HTTP/1.0 gets no 100', async () => {
    const received = await exchange(await start(reading), `${PUT.replace('1.1', '1.0')}hello`);
    expect(statuses(received)).toEqual([200]);
  });
});

describe('RFC 9110 section 15.6.6: an unknown version of HTTP is 505', () => {
  test.each([
    ['the preface of HTTP/2 (RFC 9113 section 3.4)', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['HTTP/3.0', 'GET / HTTP/3.0\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
  ])('this version of HTTP gets 505: %s', async (_, bytes) => {
    expect(problemOf(await exchange(await start(), bytes)).status).toBe(505);
  });
});

describe('RFC 9113 section 3.4: PRI is no method for requests', () => {
  const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

  test('the HTTP/2 preface in the middle of an HTTP/1.1 connection gets 501', async () => {
    const both = { handler: hello, http2: { handler: () => {} }, host: '127.0.0.1', port: 0 };
    const listening = await listen({ ...both, log: silentLog });
    open.push(listening);
    expect(statuses(await exchange(listening, GET + PREFACE))).toEqual([200, 501]);
  });
});

describe('RFC 9110 section 9.3.6: CONNECT', () => {
  const CONNECT = 'CONNECT b:80 HTTP/1.1\r\nHost: b:80\r\n\r\n';

  test('CONNECT gets 501, and the connection is closed', async () => {
    expect(problemOf(await exchange(await start(), `${CONNECT}early bytes`)).status).toBe(501);
  });

  test.each(['/', 'b', 'b:', 'b:0', 'b:65536', ':80', 'u@b:80', 'http://b:80/'])(
    'CONNECT without a host and a valid port gets 400: %s',
    async (target) => {
      const line = `CONNECT ${target} HTTP/1.1\r\nHost: b\r\n\r\n`;
      const [status] = statuses(await exchange(await start(), line));
      expect(status).toBe(400);
    },
  );

  test('CONNECT is answered after the response to the request before it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = await start(async (_request, response) => {
      await promise;
      response.end('first');
    });
    const client = new TestSocket(listening);
    await client.send(`${GET}${CONNECT}`);
    resolve();
    expect(statuses(await client.all)).toEqual([200, 501]);
  });

  test('CONNECT with a reset of the connection does not disturb the server', async () => {
    const listening = await start();
    const client = new TestSocket(listening);
    await client.send(CONNECT);
    client.socket.resetAndDestroy();
    await client.all;
    expect(statuses(await exchange(listening, CLOSING_GET))).toEqual([200]);
  });
});

test.each([
  ['websocket', 'Connection: upgrade, close'],
  ['h2c', 'Connection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: AAMAAABkAAQAAP__'],
])('RFC 9110 section 7.8: Upgrade to %s is ignored', async (protocol, fields) => {
  const received = await exchange(
    await start(),
    `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\nUpgrade: ${protocol}\r\n\r\n`,
  );
  expect(statuses(received)).toEqual([200]);
  expect(received).toMatch(/hello$/);
});

describe('RFC 9112 section 9.3.2: pipelined requests', () => {
  /** Starts a server that keeps each request until the test ends it. */
  async function keeping(limits: Partial<ServerLimits> = {}) {
    const kept: { asked: string; socket: Socket; end: () => void }[] = [];
    const listening = await start(({ method, url, socket }, response) => {
      kept.push({ asked: `${method} ${url}`, socket, end: () => void response.end() });
    }, limits);
    return { listening, client: new TestSocket(listening), kept };
  }
  const asking = (methods: readonly string[]) =>
    methods.map((method, at) => `${method} /${at} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');

  test('safe requests are handled in parallel, unsafe requests after the earlier answers', async () => {
    const { client, kept } = await keeping();
    await client.send(asking(['GET', 'PROPFIND', 'PUT', 'GET', 'HEAD', 'DELETE', 'BAKE']));
    const together: string[][] = [];
    while (statuses(client.received).length < 6) {
      await turn();
      const begun = kept.splice(0);
      if (begun.length > 0) together.push(begun.map(({ asked }) => asked));
      for (const { end } of begun) end();
    }
    expect(together).toEqual([
      ['GET /0', 'PROPFIND /1'],
      ['PUT /2'],
      ['GET /3', 'HEAD /4'],
      ['DELETE /5'],
    ]);
    expect(statuses(await client.all)).toEqual([200, 200, 200, 200, 200, 200, 501]);
  });

  test('the server handles at most ten of a hundred safe requests at a time', async () => {
    const { client, kept } = await keeping();
    await client.send(asking([...Array.from({ length: 100 }, () => 'GET'), 'BAKE']));
    let most = 0;
    while (statuses(client.received).length < 100) {
      await turn();
      most = Math.max(most, kept.length);
      for (const { end } of kept.splice(0)) end();
    }
    expect(most).toBe(10);
    expect(statuses(await client.all)).toEqual([...Array(100).fill(200), 501]);
  });

  test('the server handles as many requests of an address at a time as the address may have connections', async () => {
    const { listening, client, kept } = await keeping({ connections: { address: 3, total: 100 } });
    const clients = [client, new TestSocket(listening)];
    const ten = asking(Array<string>(10).fill('GET'));
    const settled = async () => {
      for (let n = 0; n < 20; n += 1) await turn();
      return kept.length;
    };
    for (const one of clients) await one.send(ten);
    expect(await settled()).toBe(clients.length + 3);
    client.socket.destroy();
    while (statuses(clients[1]?.received ?? '').length < 10) {
      await turn();
      for (const { end } of kept.splice(0)) end();
    }
    await clients[1]?.send(ten);
    expect(await settled()).toBe(1 + 3);
  });

  test('requests that still wait when the connection ends are not handled', async () => {
    const { client, kept } = await keeping();
    await client.send(asking(['PUT', 'PUT']));
    while (kept.length === 0) await turn();
    client.socket.destroy();
    while (kept[0]?.socket.destroyed === false) await turn();
    kept[0]?.end();
    for (let n = 0; n < 20; n += 1) await turn();
    expect(kept.map(({ asked }) => asked)).toEqual(['PUT /0']);
  });
});

test('RFC 9112 section 9.6: octets after Connection: close are ignored', async () => {
  expect(statuses(await exchange(await start(), `${CLOSING_GET}${GET}`))).toEqual([200]);
});

test.each(['garbage\r\n', 'CONNECT b:80 HTTP/1.1\r\nHost: b:80\r\n\r\n'])(
  'RFC 9112 section 9.6: a client that sends everything before it reads gets the answer to %j',
  async (opening) => {
    const client = new TestSocket(await start());
    client.socket.pause();
    await new Promise<void>((resolve) => {
      client.socket.write(opening + 'x'.repeat(8_000_000), () => resolve());
    });
    client.socket.resume();
    expect(problemOf(await client.all).status).toBeGreaterThanOrEqual(400);
  },
);

test('RFC 9112 section 9.6: a client that half-closes after its requests gets all answers, and the connection ends', async () => {
  const listening = await start(async (_request, response) => {
    await turn();
    await turn();
    response.end('hello');
  });
  const client = new TestSocket(listening);
  client.socket.end(GET + GET);
  expect(statuses(await client.all)).toEqual([200, 200]);
  expect(client.reset).toBe(false);
});

test('the connection of a half-closed client ends if no answer begins within a moment', async () => {
  const listening = await start((request, response) => {
    if (request.url === '/') return;
    response.write('be');
    setTimeout(() => response.end('gun'), 1100);
  });
  const [never, begun] = [new TestSocket(listening), new TestSocket(listening)];
  never.socket.end(GET);
  begun.socket.end(GET.replace('/', '/begun'));
  expect(await never.all).toBe('');
  expect(await begun.all).toMatch(/be\r\n.*gun\r\n0\r\n\r\n$/s);
});

describe('a handler that fails', () => {
  test.each<[string, Handler]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
  ])('a handler that %s gives 500 without the message of its error', async (_, handler) => {
    const received = await exchange(await start(handler), GET);
    expect(problemOf(received).status).toBe(500);
    expect(received).not.toContain('secret');
  });

  test('a handler that fails in the middle of its answer ends the connection', async () => {
    const listening = await start((_request, response) => {
      response.write('half');
      throw new Error('secret');
    });
    expect(await exchange(listening, GET)).not.toMatch(/500|secret/);
  });
});

describe('closing the server', () => {
  test('closing the server lets a request in flight finish, and then closes its connection', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = await start(async (_request, response) => {
      await promise;
      response.end('finished');
    });
    const client = new TestSocket(listening);
    await client.send(GET);
    const closed = listening.close(60_000);
    resolve();
    expect(await client.all).toMatch(/connection: close[^]*finished$/i);
    await closed;
  });

  test('closing the server does not cut off an answer that the client has not read yet', async () => {
    const length = 20_000_000;
    const written = Promise.withResolvers<void>();
    const listening = await start((_request, response) => {
      response.end('x'.repeat(length));
      written.resolve();
    });
    const client = new TestSocket(listening);
    client.socket.pause();
    await client.send(GET);
    await written.promise;
    const closed = listening.close(60_000);
    client.socket.resume();
    expect((await client.all).length).toBeGreaterThan(length);
    await closed;
  });

  test('RFC 9112 section 9.6: a request that arrives while the server closes is answered, and its connection closed', async () => {
    const listening = await start();
    const clients = Array.from({ length: 5 }, () => new TestSocket(listening));
    for (const client of clients) await client.send(GET);
    for (const client of clients) await client.until('hello');
    const closed = listening.close(60_000);
    for (const client of clients) client.socket.write(GET + GET.repeat(3));
    for (const client of clients) {
      const received = await client.all;
      expect(statuses(received)).toEqual([200, 200]);
      expect(received).toMatch(/hello[^]*connection: close[^]*hello$/i);
      expect(client.reset).toBe(false);
    }
    await closed;
  });

  test('a request is answered if it arrives during another answer while the server closes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = await start(async (request, response) => {
      response.writeHead(200, { 'Content-Length': 5 }).write('he');
      if (request.url === '/') await promise;
      response.end('llo');
    });
    const client = new TestSocket(listening);
    await client.send(GET);
    await client.until('\r\n\r\nhe');
    const closed = listening.close(60_000);
    resolve();
    await client.until('hello');
    client.socket.write(GET.replace('/', '/again'));
    const received = await client.all;
    expect(statuses(received)).toEqual([200, 200]);
    expect(client.reset).toBe(false);
    await closed;
  });

  test('closing the server ends idle connections and accepts no new ones', async () => {
    const listening = await start();
    const client = new TestSocket(listening);
    await client.send(GET);
    await client.until('hello');
    await listening.close(60_000);
    await client.all;
    const late = new TestSocket(listening);
    const [error] = (await once(late.socket, 'error').catch((reason: unknown) => [reason])) as [
      NodeJS.ErrnoException,
    ];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('closing the server destroys the remaining connections when the grace period is over', async () => {
    const listening = await start(() => {});
    const client = new TestSocket(listening);
    await client.send(GET);
    await listening.close(10);
    expect(await client.all).toBe('');
  });

  test('closing the server twice has no further effect', async () => {
    const listening = await start();
    await Promise.all([listening.close(0), listening.close(0)]);
    await listening[Symbol.asyncDispose]();
  });
});

test('a port that is in use rejects with the code of the system', async () => {
  const { port } = await start();
  await expect(
    listen({ host: '127.0.0.1', port, handler: hello, log: silentLog }),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('a connection with an unknown error is closed', async () => {
  const listening = await start();
  const client = new TestSocket(listening);
  const connected = once(listening.server, 'connection');
  client.socket.write('GET /');
  const [socket] = await connected;
  listening.server.emit('clientError', new Error('of TLS, or of a later Node'), socket);
  expect(await client.all).toBe('');
});
