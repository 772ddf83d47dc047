import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Scheme } from '#shared/auth/scheme.ts';
import { createStanding } from '#shared/auth/standing/standing.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import { exchange, statuses, TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import {
  ALICE,
  alone,
  stalled,
  startOrigin,
  startProxy,
  startTcp,
  stopAll,
  until,
} from './proxy.fixture.ts';
import type { ProxyOptions } from './proxy.fixture.ts';

afterEach(stopAll);

const HALF_OPEN = { allowHalfOpen: true };

/** Starts a proxy to a server that calls `serve` with each connection. */
async function tunnelling(serve: (socket: Socket) => void, options: ProxyOptions = {}) {
  const { port, sockets } = await startTcp(serve, HALF_OPEN);
  const proxy = await startProxy({ destinations: [`127.0.0.1:${port}`], ...options });
  const ask = (credentials = ALICE) =>
    `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${credentials}\r\n`;
  /** Opens a tunnel and returns its client. */
  async function open(): Promise<TestSocket> {
    const client = new TestSocket(proxy.listening);
    await client.send(ask());
    await client.until('\r\n\r\n');
    return client;
  }
  return { ...proxy, port, sockets, ask, open };
}

/** Makes revocations, and a standing that reads them. */
function revoking() {
  const set = new RevocationSet();
  set.epoch = 'e1';
  const view = () => set;
  const end = () => set.apply({ kind: 'person', id: 'alice', generation: 1 }, Infinity);
  return { standing: createStanding({ current: view, latest: view }, 20), end };
}

describe('a revocation ends', () => {
  test('a revocation ends a tunnel on both sides, and the log says so', async () => {
    const { standing, end } = revoking();
    const { open, sockets, lines } = await tunnelling(echo, { standing });
    const client = await open();
    await client.send('one');
    await client.until('one');
    end();
    await client.all;
    await until(() => sockets.size === 0);
    await until(() => lines.length > 0);
    expect(lines).toMatchObject([
      { event: 'proxy.tunnel', end: 'all of the person was ended', sent: 3 },
    ]);
  });

  test('a revocation ends an answer in transit, which then does not look complete', async () => {
    const { standing, end } = revoking();
    const port = await startOrigin((_, response) => {
      response.write('half');
    });
    const { listening, lines } = await startProxy({
      destinations: [`127.0.0.1:${port}`],
      standing,
    });
    const client = new TestSocket(listening);
    const at = `127.0.0.1:${port}`;
    await client.send(`GET http://${at}/ HTTP/1.1\r\nHost: ${at}\r\n${ALICE}\r\n`);
    await client.until('half');
    end();
    expect(await client.all).not.toMatch(/\r\n0\r\n/);
    await until(() => lines.length > 0);
    expect(lines).toMatchObject([{ reason: 'all of the person was ended', cut: true }]);
  });
});

const echo = (socket: Socket) => void socket.pipe(socket);

describe('RFC 9110 section 9.3.6: CONNECT', () => {
  test('the 200 to CONNECT has neither Content-Length nor Transfer-Encoding, and bytes pass in both directions', async () => {
    const { open } = await tunnelling(echo);
    const client = await open();
    const head = await client.until('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).not.toMatch(/content-length|transfer-encoding/i);
    await client.send('\x00\xff GET / HTTP/1.1\r\n\r\n');
    expect(await client.until('GET')).toBe(`${head}\x00\xff GET / HTTP/1.1\r\n\r\n`);
    client.socket.end();
    await client.all;
  });

  test('fields that the scheme sends to an authenticated client are on the 200 to CONNECT, even if they cover the content', async () => {
    const owing: Scheme = {
      ...alone,
      async authenticate(...args) {
        const verdict = await alone.authenticate(...args);
        if (verdict.kind !== 'granted') return verdict;
        const seal = {
          hash: 'md5',
          proof: (digest: Buffer) => ({ info: { rspauth: digest.toString('hex') } }),
        };
        return { ...verdict, proof: { ask: { scheme: 'Negotiate', token68: 'dG9rZW4=' } }, seal };
      },
    };
    const { open } = await tunnelling(echo, { schemes: [owing] });
    const client = await open();
    const head = await client.until('\r\n\r\n');
    expect(head).toMatch(/^proxy-authenticate: Negotiate dG9rZW4=\r$/im);
    expect(head).toMatch(
      /^proxy-authentication-info: rspauth="d41d8cd98f00b204e9800998ecf8427e"\r$/im,
    );
  });

  test('bytes that arrive with CONNECT, before the 200, are forwarded', async () => {
    const { listening, ask } = await tunnelling(echo);
    const client = new TestSocket(listening);
    await client.send(`${ask()}early `);
    await client.until('early ');
    await client.send('late');
    expect(await client.until('late')).toMatch(/\r\n\r\nearly late$/);
  });

  test.each([
    ['no port', '127.0.0.1'],
    ['an empty port', '127.0.0.1:'],
    ['port 0', '127.0.0.1:0'],
    ['port 65536', '127.0.0.1:65536'],
    ['userinfo', 'alice:secret@127.0.0.1:80'],
    ['a URL', 'http://127.0.0.1:80/'],
    ['a path', '/'],
    ['an address in disguise', '2130706433:80'],
  ])('CONNECT with %s is 400', async (_, target) => {
    const { listening, lines } = await startProxy();
    const received = await exchange(
      listening,
      `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(statuses(received)).toEqual([400]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test.each(['Content-Length: 5\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n'])(
    'CONNECT has no content, so with %j it is 400 and closes the connection',
    async (line) => {
      const { listening, ask, sockets } = await tunnelling(echo);
      const received = await exchange(listening, `${ask(ALICE + line)}0\r\n\r\n${ask()}`);
      expect(statuses(received)).toEqual([400]);
      expect(sockets.size).toBe(0);
    },
  );

  test.each([
    ['two of them', ALICE + ALICE],
    ['a look-alike', `${ALICE}Proxy_Authorization: Basic eDp5\r\n`],
  ])('CONNECT with Proxy-Authorization, %s, is 400', async (_, lines) => {
    const { listening, ask, sockets } = await tunnelling(echo);
    expect(statuses(await exchange(listening, ask(lines)))).toEqual([400]);
    expect(sockets.size).toBe(0);
  });

  test.each([
    '127.0.0.1:22',
    'localhost:443',
    'localhost.:443',
    '[::1]:443',
    '[::ffff:127.0.0.1]:443',
    '0.0.0.0:443',
    '169.254.169.254:443',
    '[fd00:ec2::254]:443',
    '168.63.129.16:443',
    '1.1.1.1:25',
  ])('CONNECT to %s is 403', async (target) => {
    const { listening } = await startProxy({ destinations: ['public:443'] });
    const received = await exchange(
      listening,
      `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(statuses(received)).toEqual([403]);
  });

  test('CONNECT to a port that refuses connections is 502', async () => {
    const { port } = await startTcp(echo);
    await stopAll();
    const { listening } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
    const received = await exchange(
      listening,
      `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(statuses(received)).toEqual([502]);
  });
});

describe('RFC 9110 section 11.7.1: 407', () => {
  test('a 407 keeps the connection for the next attempt', async () => {
    const { listening, ask } = await tunnelling(echo);
    const client = new TestSocket(listening);
    await client.send(ask(''));
    const refused = await client.until('\r\n\r\n{');
    expect(statuses(refused)).toEqual([407]);
    expect(refused).toMatch(/^proxy-authenticate: Basic/im);
    expect(refused).toMatch(/^x-request-id: [\w-]{22}\r$/im);
    await client.send(ask());
    expect(statuses(await client.until('200 OK'))).toEqual([407, 200]);
    await client.send('through');
    await client.until('through');
  });

  test('a 407 can be repeated on one connection, between absolute-form requests', async () => {
    const origin = await startOrigin((_request, response) => response.end('plain'));
    const { listening, ask } = await tunnelling(echo, { destinations: [`127.0.0.1:${origin}`] });
    const peers: Socket[] = [];
    listening.server.on('connection', (socket) => peers.push(socket));
    const client = new TestSocket(listening);
    const expected: number[] = [];
    async function answered(status: number): Promise<void> {
      expected.push(status);
      await until(() => statuses(client.received).length === expected.length);
    }
    /** The numbers of the connection's listeners, which attempts must not increase. */
    const counts: number[] = [];
    for (let leg = 0; leg < 30; leg += 1) {
      await client.send(ask(''));
      await answered(407);
      if (leg % 10 === 0) {
        await client.send(`GET http://127.0.0.1:${origin}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`);
        await answered(200);
      }
      const [peer] = peers;
      counts.push(peer?.eventNames().reduce((sum, name) => sum + peer.listenerCount(name), 0) ?? 0);
    }
    expect(statuses(client.received)).toEqual(expected);
    expect(counts[29]).toBe(counts[9]);
  });

  test('RFC 9931: bytes after a refused CONNECT are not read as a request', async () => {
    const { listening, ask, sockets } = await tunnelling(echo);
    const received = await exchange(listening, ask('') + ask());
    expect(statuses(received)).toEqual([407]);
    expect(received).toMatch(/^connection: close\r$/im);
    expect(sockets.size).toBe(0);
  });

  test('RFC 9931: any other refusal of CONNECT closes the connection', async () => {
    const { listening } = await startProxy();
    const received = await exchange(
      listening,
      `CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: a\r\n${ALICE}\r\n`,
    );
    expect(statuses(received)).toEqual([403]);
    expect(received).toMatch(/^connection: close\r$/im);
  });

  test.each([
    ['HTTP/1.0', 'CONNECT a:1 HTTP/1.0\r\n\r\n'],
    ['Connection: close', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n'],
  ])('a 407 closes the connection if the client asks for that: %s', async (_, bytes) => {
    const { listening } = await startProxy();
    const received = await exchange(listening, bytes);
    expect(statuses(received)).toEqual([407]);
  });

  test('a 407 closes the connection of a client that never retries', async () => {
    const { listening, ask } = await tunnelling(echo, { limits: { keepAliveTimeout: 30 } });
    const client = new TestSocket(listening);
    await client.send(ask(''));
    expect(statuses(await client.all)).toEqual([407]);
  });

  test('a proxy survives a reset while it waits for the next attempt after a 407', async () => {
    const { listening, ask, open } = await tunnelling(echo);
    const client = new TestSocket(listening);
    await client.send(ask(''));
    await client.until('407');
    client.socket.resetAndDestroy();
    await client.all;
    await open();
  });
});

describe('RFC 9110 section 9.3.6: the end of a tunnel', () => {
  test("the server can still send after the client's end of a tunnel", async () => {
    const { open } = await tunnelling((socket) => {
      let all = '';
      socket.on('data', (data: Buffer) => {
        all += data.toString();
      });
      socket.on('end', () => socket.end(`all of ${all}`));
    });
    const client = await open();
    client.socket.end('it');
    expect(await client.all).toMatch(/all of it$/);
  });

  test("the client can still send after the server's end of a tunnel", async () => {
    let received = '';
    const { open, sockets, lines } = await tunnelling((socket) => {
      socket.end('bye');
      socket.on('data', (data: Buffer) => {
        received += data.toString();
      });
    });
    const client = await open();
    client.socket.removeAllListeners('end');
    await client.until('bye');
    client.socket.end('more');
    await client.all;
    await until(() => sockets.size === 0 && lines.length > 0);
    expect(received).toBe('more');
    expect(lines).toMatchObject([
      { event: 'proxy.tunnel', status: 200, end: 'done', received: 3, sent: 4 },
    ]);
  });

  test.each([
    ['the server', 'destination'],
    ['the client', 'client'],
  ])('if %s aborts a tunnel, the other side is aborted, too', async (who, end) => {
    const { open, sockets, lines } = await tunnelling((socket) => socket.resume());
    const client = await open();
    const [server] = sockets;
    if (server === undefined) throw new Error('not connected');
    const failed = new Promise((resolve) => {
      (who === 'the server' ? client.socket : server).once('error', resolve);
    });
    (who === 'the server' ? server : client.socket).resetAndDestroy();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    await until(() => lines.length > 0);
    expect(lines).toMatchObject([{ end }]);
  });

  test.each([
    ['idle', { idle: 0.05 }],
    ['total', { total: 0.05 }],
  ])('a tunnel ends after its time: %s', async (end, times) => {
    const { open, sockets, lines } = await tunnelling((socket) => socket.resume(), times);
    const client = await open();
    await client.all;
    await until(() => sockets.size === 0 && lines.length > 0);
    expect(lines).toMatchObject([{ end }]);
  });

  test('a half-open tunnel ends after the idle time, too', async () => {
    const { open, lines } = await tunnelling((socket) => socket.resume(), { idle: 0.05 });
    const client = await open();
    client.socket.end();
    await client.all;
    await until(() => lines.length > 0);
    expect(lines).toMatchObject([{ end: 'idle' }]);
  });

  test('a tunnel with traffic does not end after the idle time', async () => {
    const { open } = await tunnelling(echo, { idle: 0.3 });
    const client = await open();
    for (let piece = 0; piece < 10; piece += 1) {
      await client.send(`piece ${piece}`);
      await client.until(`piece ${piece}`);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(client.socket.destroyed).toBe(false);
  });

  test('closing the server ends tunnels and waiting connections after the grace period', async () => {
    const { open, listening, sockets, ask } = await tunnelling(echo);
    const tunnel = await open();
    const waiting = new TestSocket(listening);
    await waiting.send(ask(''));
    await waiting.until('407');
    const closed = listening.close(3000);
    await waiting.all;
    await tunnel.send('still here');
    await tunnel.until('still here');
    await closed;
    await tunnel.all;
    await until(() => sockets.size === 0);
  });
});

describe('back-pressure', () => {
  const PIECE = Buffer.alloc(65_536);

  test('a tunnel throttles the server for a slow client', async () => {
    let sent = 0;
    const { open } = await tunnelling((socket) => {
      const write = () => {
        do sent += PIECE.length;
        while (socket.write(PIECE));
      };
      socket.on('drain', write);
      socket.once('data', write);
    });
    const client = await open();
    client.socket.pause();
    await client.send('go');
    await stalled(() => sent);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('a tunnel throttles the client for a slow server', async () => {
    const { open, sockets } = await tunnelling((socket) => socket.pause());
    const client = await open();
    let sent = 0;
    const write = () => {
      do sent += PIECE.length;
      while (client.socket.write(PIECE));
    };
    client.socket.on('drain', write);
    write();
    await stalled(() => sent);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    client.socket.destroy();
    for (const socket of sockets) socket.destroy();
  });

  test('many bytes pass a tunnel unchanged in both directions at once', async () => {
    const { listening, ask } = await tunnelling(echo);
    const socket = connect(listening.port, '127.0.0.1');
    socket.write(ask());
    await once(socket, 'data');
    const sent = Buffer.alloc(8_000_000, 'many bytes ');
    socket.end(sent);
    const received: Buffer[] = [];
    for await (const piece of socket) received.push(piece as Buffer);
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });
});

describe('the limit of tunnels', () => {
  test('a CONNECT over the limit of tunnels is 503, other requests pass, and ended tunnels are released', async () => {
    const origin = await startOrigin((_request, response) => response.end('plain'));
    const { port } = await startTcp(echo, HALF_OPEN);
    const { listening, lines } = await startProxy({
      destinations: [`127.0.0.1:${origin}`, `127.0.0.1:${port}`],
      tunnels: 8,
    });
    const ask = (credentials: string) =>
      `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${credentials}\r\n`;
    const clients = [new TestSocket(listening), new TestSocket(listening)];
    for (const client of clients) {
      await client.send(ask(ALICE));
      expect(statuses(await client.until('\r\n\r\n'))).toEqual([200]);
    }

    const refused = await exchange(listening, ask(ALICE));
    expect(statuses(refused)).toEqual([503]);
    expect(refused).toMatch(/^retry-after: 1\r$/im);
    expect(statuses(await exchange(listening, ask('')))).toEqual([407]);
    const plain = `GET http://127.0.0.1:${origin}/ HTTP/1.1\r\nHost: a\r\n${ALICE}Connection: close\r\n\r\n`;
    expect(statuses(await exchange(listening, plain))).toEqual([200]);

    clients[0]?.socket.resetAndDestroy();
    await until(() => lines.some(({ end }) => end === 'client'));
    const next = new TestSocket(listening);
    await next.send(ask(ALICE));
    expect(statuses(await next.until('\r\n\r\n'))).toEqual([200]);
    expect(statuses(await exchange(listening, ask(ALICE)))).toEqual([503]);
  });

  test('an account may have a quarter of the free tunnels, and an address a third', async () => {
    const anybody: Scheme = {
      ...alone,
      authenticate: ({ token68: name = '' }) => ({
        kind: 'granted',
        principal: { kind: 'person', realm: 'proxy', name },
      }),
    };
    const { listening, ask } = await tunnelling(echo, { tunnels: 12, schemes: [anybody] });
    const told: string[] = [];
    const asked = [
      ...['a', 'a', 'a', 'a', 'b', 'b'].map((name) => ({ name, at: 1 })),
      ...['a', 'c', 'c', 'c', 'd'].map((name) => ({ name, at: 2 })),
    ];
    for (const { name, at } of asked) {
      const client = new TestSocket(listening, `127.0.0.${at}`);
      await client.send(ask(`Proxy-Authorization: Basic ${name}\r\n`));
      told.push(`${name}${at} ${statuses(await client.until('\r\n\r\n'))[0]}`);
    }
    expect(told).toEqual(
      ['a1 200', 'a1 200', 'a1 200', 'a1 503', 'b1 200', 'b1 503'].concat([
        'a2 503',
        'c2 200',
        'c2 200',
        'c2 503',
        'd2 200',
      ]),
    );
  });

  test('the limit of tunnels includes those that are still connecting', async () => {
    const dialling = Promise.withResolvers<never>();
    const { listening, ask } = await tunnelling(echo, {
      tunnels: 1,
      network: { dial: () => dialling.promise },
    });
    const first = new TestSocket(listening);
    await first.send(ask());
    expect(statuses(await exchange(listening, ask()))).toEqual([503]);
    dialling.reject(new Error('no'));
    expect(statuses(await first.all)).toEqual([502]);
    expect(statuses(await exchange(listening, ask()))).toEqual([502]);
  });

  test('two of ten concurrent requests for two tunnels succeed', async () => {
    const { listening, ask } = await tunnelling(echo, { tunnels: 8 });
    const clients = Array.from({ length: 10 }, () => new TestSocket(listening));
    await Promise.all(clients.map((client) => client.send(ask())));
    const heads = await Promise.all(clients.map((client) => client.until('\r\n\r\n')));
    const codes = heads.flatMap(statuses);
    expect(codes.filter((code) => code === 200)).toHaveLength(2);
    expect(codes.filter((code) => code === 503)).toHaveLength(8);
  });

  test('a client that leaves while its tunnel connects frees the tunnel', async () => {
    const { listening, ask, lines } = await tunnelling(echo, {
      tunnels: 1,
      network: {
        dial: (_address, _port, signal) =>
          new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      },
    });
    for (let time = 1; time <= 3; time += 1) {
      const client = new TestSocket(listening);
      await client.send(ask());
      client.socket.resetAndDestroy();
      await until(() => lines.length === time);
    }
    expect(lines).toMatchObject([{ cut: true }, { cut: true }, { cut: true }]);
  });
});

test('a CONNECT behind a running request waits for the answer to that request', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const origin = await startOrigin((_request, response) => {
    void promise.then(() => response.end('plain'));
  });
  const { port } = await startTcp(echo, HALF_OPEN);
  const { listening } = await startProxy({
    destinations: [`127.0.0.1:${origin}`, `127.0.0.1:${port}`],
  });
  const client = new TestSocket(listening);
  await client.send(
    `GET http://127.0.0.1:${origin}/ HTTP/1.1\r\nHost: a\r\n${ALICE}\r\nCONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: a\r\n${ALICE}\r\nearly`,
  );
  resolve();
  expect(await client.until('early')).toMatch(
    / 200 OK[^]*plain[^]*HTTP\/1\.1 200 OK\r\n\r\nearly$/,
  );
});

test('the log has one line per tunnel, without credentials', async () => {
  const { open, lines, port } = await tunnelling(echo);
  const client = await open();
  await client.send('secret');
  await client.until('secret');
  client.socket.end();
  await client.all;
  await until(() => lines.length > 0);
  expect(lines).toEqual([
    {
      time: expect.any(String),
      level: 'info',
      server: 'test',
      event: 'proxy.tunnel',
      id: expect.any(String),
      host: `127.0.0.1:${port}`,
      space: 'proxy',
      verdict: 'granted',
      scheme: 'Basic',
      status: 200,
      subject: 'alice',
      end: 'done',
      received: 6,
      sent: 6,
      milliseconds: expect.any(Number),
    },
  ]);
});
