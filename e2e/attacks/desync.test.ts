import { connect, type Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, startProxySite, startTcp } from '../interop/proxy-site.ts';
import type { Behind, ProxySite } from '../interop/proxy-site.ts';

/**
 * Requests with methods that node:http cannot parse, cut at every place: the server answers once and reads
 * no request behind.
 */
const parts = new AsyncDisposableStack();
let site: ProxySite;
let origin: Behind;
/** The octets that the destination behind the forward proxy received, by connection. */
const forwarded: string[] = [];
beforeAll(async () => {
  origin = parts.use(
    await startTcp((socket) => {
      const at = forwarded.push('') - 1;
      socket.on('data', (piece: Buffer) => {
        const received = (forwarded[at] ?? '') + piece.toString('latin1');
        forwarded[at] = received;
        const [head = '', content] = received.split('\r\n\r\n');
        const length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? 0);
        if ((content?.length ?? -1) < length) return;
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    }),
  );
  site = parts.use(await startProxySite('sqlite', () => ({ destinations: [origin.at] })));
});
afterAll(() => parts.disposeAsync());

type Door = 'resource' | 'resource over TLS' | 'authorization' | 'token issuer' | 'proxy';
const DOORS: readonly Door[] = [
  'resource',
  'resource over TLS',
  'authorization',
  'token issuer',
  'proxy',
];

const urlOf = (door: Door): URL => {
  const { pair, proxy } = site;
  const urls: Record<Door, string | undefined> = {
    resource: pair.resources[0]?.url,
    'resource over TLS': pair.resourceTls,
    authorization: pair.authz[0]?.url,
    'token issuer': pair.tokenIssuer,
    proxy: `http://${proxy.host}:${proxy.port}`,
  };
  return new URL(urls[door] ?? '');
};

function dial(door: Door): Socket {
  const { protocol, hostname: host, port } = urlOf(door);
  const to = { host, port: Number(port), noDelay: true };
  return protocol === 'https:' ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
}

/**
 * Returns the answer, until the server closes the connection. A pause between pieces usually makes the
 * server read each by itself.
 */
async function answer(door: Door, pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = dial(door).on('error', () => undefined);
  let received = '';
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
  });
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  for (const piece of pieces) {
    socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    await later(2);
  }
  await closed;
  return received;
}

const statuses = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => Number(status));

const SMUGGLED = 'DELETE /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A request of this method to a listener, and the one status that the listener answers. */
function request(door: Door, method: string, content = ''): { head: string; status: number } {
  const host = urlOf(door).host;
  const isProxy = door === 'proxy';
  const target = isProxy ? `http://${origin.at}/cut` : '/cut';
  const fields = [`Host: ${host}`];
  if (isProxy) fields.push(`Proxy-Authorization: ${basic()}`);
  if (content !== '') fields.push(`Content-Length: ${content.length}`);
  const head = `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`;
  // PRI never begins a request with content (RFC 9113 section 3.4).
  return { head, status: isProxy && method !== 'PRI' ? 200 : 501 };
}

const inBatches = async <T>(all: readonly T[], each: (one: T) => Promise<void>): Promise<void> => {
  for (let at = 0; at < all.length; at += 50) await Promise.all(all.slice(at, at + 50).map(each));
};

describe.each(DOORS)('RFC 9112 section 9.6, listener %s: the server', (door) => {
  test.each([
    ['BAN', ''],
    ['BAN', 'hello'],
    ['P', 'hello'],
    ['PRI', ''],
    ['PRI', 'hello'],
  ])(
    'answers %s with content %j once, cut into two and into three pieces',
    async (method, content) => {
      const { head, status } = request(door, method, content);
      const bytes = head + content + SMUGGLED;
      const places = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
      await inBatches(places, async (at) => {
        const two = [bytes.slice(0, at), bytes.slice(at)];
        const three = [bytes.slice(0, at), bytes.slice(at, at + 1), bytes.slice(at + 1)];
        for (const pieces of [two, three]) {
          expect([at, statuses(await answer(door, pieces))]).toEqual([at, [status]]);
        }
      });
    },
  );

  test('refuses an unknown method behind another request, wherever it is cut', async () => {
    const first = request(door, 'OPTIONS').head.replace('/cut', '/first');
    const bytes = request(door, 'BAN').head + SMUGGLED;
    const places = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    await inBatches(places, async (at) => {
      const received = await answer(door, [first, bytes.slice(0, at), bytes.slice(at)]);
      const [, refused = 0, ...more] = statuses(received);
      expect([at, more]).toEqual([at, []]);
      expect([400, 501]).toContain(refused);
    });
  });

  test.each<[string, readonly (string | Buffer)[], readonly number[]]>([
    ['a method of 16 KiB', [`${'A'.repeat(16_384)} /cut HTTP/1.1\r\n\r\n`], [414, 501]],
    ['a tab behind the method', ['FOO\t/cut HTTP/1.1\r\nHost: localhost\r\n\r\n'], [400]],
    ['a control character', ['F\0O /cut HTTP/1.1\r\nHost: localhost\r\n\r\n'], [400]],
    ['HTTP/0.9', ['GET /\r\n\r\n'], [505]],
    ['HTTP/0.9 of an unknown method', ['FOO /\r\n\r\n'], [505]],
    [
      'content in pieces',
      ['FOO /cut HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'],
      [411],
    ],
    ['half a preface and a request', ['PRI * HTTP/2.0\r\n\r\n', SMUGGLED], [501, 505]],
    ['a handshake of TLS', [Buffer.from('16030100a5010000a1030300', 'hex')], [400]],
    [
      'a piece of a method, and a request',
      ['M', 'DELETE /cut HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      [407, 421, 501],
    ],
  ])('%s is refused', async (_, pieces, expected) => {
    const received = statuses(await answer(door, pieces));
    expect(received).toHaveLength(1);
    expect(expected).toContain(received[0]);
  });

  test('still answers an OPTIONS request', async () => {
    const { head } = request(door, 'OPTIONS');
    const received = await answer(door, [
      head.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    ]);
    expect(statuses(received)).toHaveLength(1);
    expect(statuses(received)[0]).toBeLessThan(500);
  });
});

test('no smuggled request reached any server, and no logged error is a defect', () => {
  const { pair } = site;
  const lines = [...pair.resources, ...pair.authz].flatMap(({ log }) =>
    log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): Record<string, unknown> => JSON.parse(line)),
  );
  const asked = lines.filter(({ event }) => event === 'request' || event === 'proxy.request');
  // The resource server itself fetches the keys.
  const others = asked.filter(({ path }) => path !== '/jwks');
  const methods = new Set(others.map(({ method }) => method));
  expect(methods).toEqual(new Set(['BAN', 'P', 'PRI', 'OPTIONS', 'MDELETE']));
  expect(JSON.stringify(lines)).not.toContain('smuggled');
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  expect(forwarded.length).toBeGreaterThan(0);
  for (const received of forwarded) {
    expect(received).toMatch(/^(?:BAN|P|OPTIONS) \/(?:cut|first) HTTP\/1\.1\r\n/);
    expect(received).not.toContain('smuggled');
  }
});
