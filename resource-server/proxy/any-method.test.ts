import { afterEach, describe, expect, test } from '@jest/globals';
import { exchange, statuses } from '#shared/server/wire/test-socket.fixture.ts';
import { ALICE, startProxy, startTcp, stopAll } from './proxy.fixture.ts';

afterEach(stopAll);

/** Starts a proxy to an origin that answers each connection once. `received`: the requests at the origin. */
async function receiving() {
  const received: string[] = [];
  const { port } = await startTcp((socket) => {
    let bytes = '';
    socket.on('data', (piece: Buffer) => {
      bytes += piece.toString('latin1');
      const [head = '', content = ''] = bytes.split('\r\n\r\n');
      const length = Number(/^content-length: ([0-9]+)$/im.exec(head)?.[1] ?? 0);
      if (!bytes.includes('\r\n\r\n') || content.length < length) return;
      received.push(bytes);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nbanned');
    });
  });
  const { listening, lines } = await startProxy({ destinations: [`127.0.0.1:${port}`] });
  const target = `http://127.0.0.1:${port}/x`;
  const ask = (method: string, fields = '', content = '') =>
    exchange(listening, `${method} ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${content}`);
  return { ask, received, lines };
}

const NEXT = 'DELETE http://127.0.0.1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

describe('RFC 9110 section 9.1: a method that node:http cannot read', () => {
  test('the proxy forwards a method unchanged, on a separate connection, even if node:http cannot read the method', async () => {
    const { ask, received, lines } = await receiving();
    const refused = await ask('BAN');
    expect(statuses(refused)).toEqual([407]);
    expect(refused).toMatch(/^proxy-authenticate: Basic/im);
    expect(refused).toMatch(/^connection: close\r$/im);
    expect(received).toEqual([]);
    const answer = await ask('BAN', `${ALICE}Content-Length: 5\r\n`, 'hello');
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*banned$/s);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatch(/^BAN \/x HTTP\/1\.1\r\n/);
    expect(received[0]).toMatch(/\r\n\r\nhello$/);
    expect(received[0]).not.toMatch(/proxy-authorization/i);
    expect(lines).toMatchObject([
      { event: 'proxy.request', method: 'BAN', status: 407 },
      { event: 'proxy.request', method: 'BAN', status: 200 },
    ]);
  });

  test.each(['UPDATEREDIRECTREF', 'VERSION-CONTROL', 'FOO', "!#$%&'*+-.^_`|~0"])(
    'the method %s without content has Content-Length: 0 at the destination',
    async (method) => {
      const { ask, received } = await receiving();
      expect(statuses(await ask(method, ALICE))).toEqual([200]);
      expect(received).toHaveLength(1);
      expect(received[0]?.startsWith(`${method} /x HTTP/1.1\r\n`)).toBe(true);
      expect(received[0]).toMatch(/^content-length: 0\r$/im);
    },
  );

  test.each(['get', 'connect', 'PRI'])(
    'the method %s is 501, and no destination is asked',
    async (method) => {
      const { ask, received } = await receiving();
      expect(statuses(await ask(method, ALICE))).toEqual([501]);
      expect(received).toEqual([]);
    },
  );

  test('RFC 9110 section 15.5.12: such a method with content but no length is 411, and is not forwarded', async () => {
    const { ask, received } = await receiving();
    const fields = `${ALICE}Transfer-Encoding: chunked\r\n`;
    expect(statuses(await ask('BAN', fields, '5\r\nhello\r\n0\r\n\r\n'))).toEqual([411]);
    expect(received).toEqual([]);
  });

  test('RFC 9112 section 9.6: bytes after such a request are not read as another request', async () => {
    const { ask, received } = await receiving();
    expect(statuses(await ask('BAN', `${ALICE}Content-Length: 5\r\n`, `hello${NEXT}`))).toEqual([
      200,
    ]);
    expect(received).toHaveLength(1);
    expect(received[0]).not.toContain('smuggled');
  });
});
