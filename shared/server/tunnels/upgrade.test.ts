import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { send } from '../message/answer.ts';
import { contentOf } from '../content/content.ts';
import { type Handler, listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { upgradeOf } from './upgrade.ts';
import { CLOSING_GET, open, problemOf } from '../wire/wire.fixture.ts';

const HANDSHAKE = [
  'GET /socket HTTP/1.1',
  'Host: a',
  'Connection: keep-alive, Upgrade',
  'Upgrade: WebSocket',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n');
const OPEN = 'HTTP/1.1 101 Switching Protocols\r\n';
const GET = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';

/** Opens a WebSocket handshake and echoes its octets; answers any other request with its own data. */
const echo: Handler = (request, response) => {
  const upgrade = request.url === '/refused' ? undefined : upgradeOf(request);
  if (upgrade === undefined)
    return send(request, response, { status: 200, fields: {}, body: `plain ${request.url} ` });
  const side = upgrade.open({ 'X-Opened': 'yes' });
  side.on('error', () => {}).pipe(side);
  return undefined;
};

/** Reads all content, and then answers. */
const reading: Handler = async (request, response) => {
  for await (const _ of contentOf(request));
  response.end('read');
};

async function start(
  handler: Handler = echo,
  limits: Partial<ServerLimits> = {},
): Promise<Listening> {
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    webSockets: true,
    log: silentLog,
    limits,
  });
  open.push(listening);
  return listening;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('RFC 6455 section 4.2.2: an accepted handshake', () => {
  test('an accepted handshake gets 101 with the fields of the handler; then both sides send octets until both have ended', async () => {
    const client = new TestSocket(await start());
    client.socket.write(HANDSHAKE);
    const head = await client.until('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^${OPEN}`));
    expect(head).toContain('Connection: Upgrade\r\nUpgrade: websocket\r\n');
    expect(head).toContain('X-Opened: yes\r\n');
    expect(head).not.toMatch(/content-length|transfer-encoding/i);
    client.socket.write('GET / is no request here');
    await client.until('GET / is no request here');
    client.socket.end();
    expect(statuses(await client.all)).toEqual([101]);
  });

  test('octets after a handshake are passed on when the WebSocket is open, and not before', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = new TestSocket(
      await start(async (request, response) => {
        await promise;
        await echo(request, response);
      }),
    );
    await client.send(`${HANDSHAKE}early`);
    await client.send(' and late');
    expect(client.received).toBe('');
    resolve();
    const all = await client.until('early and late');
    expect(all).toMatch(new RegExp(`^${OPEN}[^]*\r\n\r\nearly and late$`));
    client.socket.destroy();
  });

  test('RFC 9112 section 9.3.2: a handshake waits for the answers to earlier requests', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = new TestSocket(
      await start(async (request, response) => {
        if (request.url === '/next') await promise;
        await echo(request, response);
      }),
    );
    await client.send(GET + HANDSHAKE);
    expect(client.received).toBe('');
    resolve();
    expect(statuses(await client.until(OPEN))).toEqual([200, 101]);
    client.socket.destroy();
  });

  test('an open WebSocket delays the end of the server at most for the grace period', async () => {
    const listening = await start();
    const client = new TestSocket(listening);
    client.socket.write(HANDSHAKE);
    await client.until(OPEN);
    await listening.close(10);
    expect(await client.all).toContain(OPEN);
  });
});

describe('a request with Upgrade that is no handshake is an ordinary request', () => {
  const without = (line: string, instead = '') => HANDSHAKE.replace(`${line}\r\n`, instead);
  test.each([
    [
      'RFC 9110 section 7.8: a request to upgrade to another protocol',
      HANDSHAKE.replace('WebSocket', 'h2c'),
    ],
    ['RFC 6455 section 4.2.1: a handshake without Upgrade', without('Upgrade: WebSocket')],
    [
      'RFC 6455 section 4.2.1: a handshake without Connection',
      without('Connection: keep-alive, Upgrade'),
    ],
    ['RFC 6455 section 4.2.1: a handshake with POST', HANDSHAKE.replace('GET', 'POST')],
    [
      'RFC 9110 section 7.8: a handshake in HTTP/1.0',
      HANDSHAKE.replace('HTTP/1.1', 'HTTP/1.0').replace('keep-alive,', 'keep-alive ,'),
    ],
    ['with content', `${HANDSHAKE.replace('Host', 'Content-Length: 5\r\nHost')}HELLO`],
    [
      'with content in chunks',
      `${HANDSHAKE.replace('Host', 'Transfer-Encoding: chunked\r\nHost')}5\r\nHELLO\r\n0\r\n\r\n`,
    ],
    [
      'a handshake with Expect: 100-continue',
      HANDSHAKE.replace('Host', 'Expect: 100-continue\r\nHost'),
    ],
  ])('%s', async (_, bytes) => {
    const client = new TestSocket(await start());
    client.socket.write(bytes);
    await client.until('plain /socket ');
    client.socket.write(CLOSING_GET);
    expect(await client.all).not.toContain(OPEN);
  });

  test('after an ordinary request with Upgrade the next request of the connection is served', async () => {
    const client = new TestSocket(await start());
    client.socket.write(HANDSHAKE.replace('WebSocket', 'h2c'));
    await client.until('plain /socket ');
    client.socket.write(CLOSING_GET);
    expect(statuses(await client.all)).toEqual([200, 200]);
  });

  test.each([
    ['an upgrade to another protocol', HANDSHAKE.replace('WebSocket', 'h2c')],
    ['a handshake with DELETE', HANDSHAKE.replace('GET', 'DELETE')],
    ['a handshake with HEAD', HANDSHAKE.replace('GET', 'HEAD')],
  ])(
    'RFC 9112 section 9.3.2: no octet after a request with Upgrade is lost, wherever the octets are split: %s',
    async (_, one) => {
      const listening = await start(reading);
      const bytes = one + GET + one + CLOSING_GET;
      for (let cut = 0; cut < bytes.length; cut += 7) {
        const client = new TestSocket(listening);
        if (cut > 0) await client.send(bytes.slice(0, cut));
        client.socket.write(bytes.slice(cut));
        expect([cut, statuses(await client.all)]).toEqual([cut, [200, 200, 200, 200]]);
      }
    },
  );

  test('no octet after a request with Upgrade is lost at a listener without WebSockets', async () => {
    const listening = await listen({ host: '127.0.0.1', port: 0, handler: echo, log: silentLog });
    open.push(listening);
    expect(statuses(await exchange(listening, HANDSHAKE + CLOSING_GET))).toEqual([200, 200]);
  });

  test.each([
    ['with content', `${HANDSHAKE.replace('Host', 'Content-Length: 5\r\nHost')}HELLO`],
    [
      'with content in chunks',
      `${HANDSHAKE.replace('Host', 'Transfer-Encoding: chunked\r\nHost')}5\r\nHELLO\r\n0\r\n\r\n`,
    ],
    ['of HTTP/1.0', HANDSHAKE.replace('HTTP/1.1', 'HTTP/1.0')],
  ])(
    'RFC 9112 section 9.6: the connection ends after an ordinary request with Upgrade, whose answer says `close`, %s',
    async (_, one) => {
      const listening = await start(reading);
      const bytes = one + GET + GET;
      for (let cut = 0; cut < bytes.length; cut += 7) {
        const client = new TestSocket(listening);
        if (cut > 0) await client.send(bytes.slice(0, cut));
        client.socket.write(bytes.slice(cut));
        const received = await client.all;
        expect([cut, statuses(received)]).toEqual([cut, [200]]);
        expect(received).toMatch(/^connection: close\r$/im);
      }
    },
  );

  test('RFC 9110 section 7.8: websocket may be one of several protocols, in one line or two', async () => {
    for (const several of ['h2c, websocket', 'h2c\r\nUpgrade: websocket']) {
      const client = new TestSocket(await start());
      client.socket.write(HANDSHAKE.replace('WebSocket', several));
      await client.until(OPEN);
      client.socket.destroy();
    }
  });

  test('a listener without WebSockets accepts no handshake', async () => {
    const listening = await listen({ host: '127.0.0.1', port: 0, handler: echo, log: silentLog });
    open.push(listening);
    const client = new TestSocket(listening);
    client.socket.write(HANDSHAKE);
    await client.until('plain /socket ');
    client.socket.destroy();
  });
});

describe('a refused handshake', () => {
  const REFUSED = HANDSHAKE.replace('/socket', '/refused');

  test('RFC 9110 section 7.8: after a refused handshake the next octets are read as a request', async () => {
    const received = await exchange(await start(), REFUSED + REFUSED + GET + CLOSING_GET);
    expect(statuses(received)).toEqual([200, 200, 200, 200]);
    expect(received).toMatch(/plain \/refused [^]*plain \/refused [^]*plain \/next [^]*plain \/ /);
  });

  test('a handshake may be refused many times; an accepted handshake then works, and no listeners are left', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const client = new TestSocket(await start());
    for (let count = 1; count <= 30; count += 1) {
      client.socket.write(REFUSED);
      await client.until(
        (all) => statuses(all).length === count && all.endsWith('plain /refused '),
      );
    }
    client.socket.write(HANDSHAKE);
    await client.until(OPEN);
    client.socket.destroy();
    expect(warned).not.toHaveBeenCalled();
  });

  test('RFC 9112 section 9.6: a refused handshake with `close` is the last request of its connection', async () => {
    const closing = REFUSED.replace('keep-alive', 'close');
    expect(statuses(await exchange(await start(), closing + GET))).toEqual([200]);
  });

  test('RFC 9112 section 9.6: a handshake after the last request of a connection is ignored', async () => {
    expect(statuses(await exchange(await start(), CLOSING_GET + HANDSHAKE))).toEqual([200]);
  });

  test.each([
    ['RFC 9112 section 3.2: two hosts', 'Host: a\r\nHost: b', 400],
    ['RFC 6585 section 5: too many fields', `Host: a${'\r\na: b'.repeat(1000)}`, 431],
  ])('%s', async (_, fields, status) => {
    const received = await exchange(await start(), HANDSHAKE.replace('Host: a', fields) + GET);
    expect(problemOf(received).status).toBe(status);
  });

  test('a handshake whose target is over the limit gets 414', async () => {
    const received = await exchange(await start(echo, { targetBytes: 4 }), HANDSHAKE);
    expect(problemOf(received).status).toBe(414);
  });

  test('RFC 9110 section 15.5.9: a handshake that does not arrive in time gets 408', async () => {
    const limits = { headersTimeout: 50, requestTimeout: 60, checkInterval: 10 };
    const received = await exchange(await start(echo, limits), HANDSHAKE.slice(0, -4));
    expect(problemOf(received).status).toBe(408);
  });

  test('a handshake whose handler fails gets 500', async () => {
    const client = new TestSocket(
      await start(() => {
        throw new Error('defect');
      }),
    );
    client.socket.write(HANDSHAKE);
    await client.until('HTTP/1.1 500 ');
    client.socket.destroy();
  });

  test.each([
    ['the answer to a handshake', REFUSED],
    ['the answer to the request before one', GET + HANDSHAKE],
    ['the answer to the request before CONNECT', `${GET}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`],
  ])('a long answer is sent as fast as the client reads it: %s', async (_, bytes) => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const client = new TestSocket(
      await start(async (request, response) => {
        if (request.url === '/socket') return echo(request, response);
        for (let count = 0; count < 20; count += 1) {
          if (!response.write(piece)) await once(response, 'drain');
        }
        return void response.end('whole');
      }),
    );
    client.socket.write(bytes);
    await client.until((all) => all.length > 20_000_000 && all.includes('whole'));
    client.socket.destroy();
  });

  test.each([
    ['end', HANDSHAKE],
    ['resetAndDestroy', HANDSHAKE],
    ['end', GET + HANDSHAKE],
    ['resetAndDestroy', GET + HANDSHAKE],
  ] as const)(
    'a client that disconnects before the answer is noticed: %s',
    async (leave, bytes) => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: left, resolve: leaves } = Promise.withResolvers<void>();
      const client = new TestSocket(
        await start((_, response) => {
          response.once('close', leaves);
          begin();
        }),
      );
      client.socket.write(bytes);
      await begun;
      client.socket[leave]();
      await left;
    },
  );

  test.each([
    ['to a handshake', REFUSED],
    ['before a handshake', GET + HANDSHAKE],
    ['before CONNECT', `${GET}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`],
    ['before a request that is held back', `${GET}DELETE / HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('a client that does not read the answer %s is disconnected', async (_, bytes) => {
    const { promise: left, resolve: leaves } = Promise.withResolvers<void>();
    const large: Handler = (request, response) => {
      response.once('close', leaves);
      send(request, response, { status: 200, fields: {}, body: 'x'.repeat(50_000_000) });
    };
    const client = new TestSocket(await start(large, { idleTimeout: 50 }));
    client.socket.pause();
    client.socket.write(bytes);
    await left;
    client.socket.destroy();
  });

  test('RFC 9112 section 9.6: a half-closed connection is closed after an answer that opens no WebSocket', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = new TestSocket(
      await start(
        async (_, response) => {
          begin();
          await promise;
          response.end('no');
        },
        { keepAliveTimeout: 3_600_000 },
      ),
    );
    client.socket.write(REFUSED);
    await begun;
    client.socket.end();
    for (let turns = 0; turns < 200; turns += 1) await turn();
    resolve();
    expect(statuses(await client.all)).toEqual([200]);
  });

  test('if the client ends its side before the WebSocket is open, the end is passed on afterwards', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = new TestSocket(
      await start(async (request, response) => {
        begin();
        await promise;
        await echo(request, response);
      }),
    );
    client.socket.write(HANDSHAKE);
    await begun;
    await client.send('early');
    client.socket.end();
    resolve();
    expect(await client.all).toMatch(/\r\n\r\nearly$/);
  });

  test('the response emits `close` once, however the tunnel ends', async () => {
    for (const [bytes, ended] of [
      [HANDSHAKE, OPEN],
      [REFUSED, 'plain'],
    ] as const) {
      const closed = jest.fn();
      const client = new TestSocket(
        await start((request, response) => {
          response.on('close', closed);
          return echo(request, response);
        }),
      );
      client.socket.write(bytes);
      await client.until(ended);
      if (ended === OPEN) expect(closed).not.toHaveBeenCalled();
      client.socket.destroy();
      await once(client.socket, 'close');
      while (closed.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      expect(closed).toHaveBeenCalledTimes(1);
    }
  });
});
