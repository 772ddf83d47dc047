import { once } from 'node:events';
import http, { IncomingMessage } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import type { HttpError } from '#shared/http/answer.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { authRequest, type Recipient } from './auth-request.ts';
import { ORIGIN, PROXY } from '#shared/auth/scheme.ts';

const ASKED = { method: 'GET', target: '/a', origin: 'https://rs.example' };
const FAR: Recipient = { at: ORIGIN, proxies: trustedProxies(['10.0.0.0/8']), local: false };
const LOCAL: Recipient = { at: ORIGIN, proxies: trustedProxies([]), local: true };
const [TRUSTED, STRANGER] = ['10.0.0.1', '203.0.113.7'];

/** Returns a request from a peer, with fields as [name, value]. */
function requestFrom(
  remoteAddress: string | undefined,
  fields: readonly (readonly [string, string])[] = [],
  socket = new Socket(),
): IncomingMessage {
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  request.rawHeaders = fields.flat();
  return request;
}
const proto = (...values: string[]) => values.map((value) => ['X-Forwarded-Proto', value] as const);

test('cookies are parsed once for each request', () => {
  const request = requestFrom(STRANGER, [
    ['Cookie', 'a=1;;; b=2'],
    ['Cookie', 'c=3'],
  ]);
  const { cookies } = authRequest(request, ASKED, FAR);
  expect(cookies).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
  ]);
  expect(authRequest(request, ASKED, LOCAL).cookies).toBe(cookies);
});

describe('whether a request is confidential', () => {
  const over = (request: IncomingMessage, recipient = FAR) =>
    authRequest(request, ASKED, recipient).confidential;

  test('a request over TLS is confidential, whatever its fields say', () => {
    const tls = () => new TLSSocket(new Socket());
    expect(over(requestFrom(STRANGER, [], tls()))).toBe(true);
    expect(over(requestFrom(STRANGER, proto('http'), tls()))).toBe(true);
  });

  test('a request in clear text over loopback is confidential', () => {
    expect(over(requestFrom('127.0.0.1'), LOCAL)).toBe(true);
    expect(over(requestFrom('127.0.0.1', proto('http')), LOCAL)).toBe(true);
  });

  test('a request in clear text from another machine is not confidential, whatever its fields say', () => {
    expect(over(requestFrom(STRANGER))).toBe(false);
    expect(over(requestFrom(STRANGER, proto('https')))).toBe(false);
    expect(over(requestFrom('127.0.0.1', proto('https')))).toBe(false);
    expect(over(requestFrom(undefined, proto('https')))).toBe(false);
  });

  test.each([
    ['https', true],
    ['http', false],
    ['HTTPS', true],
    ['HTTP', false],
    ['https, http', false],
    ['https,https', false],
    ['wss', true],
    ['ws', false],
    ['', false],
  ])('a request from a trusted proxy that sends %j is confidential: %j', (value, confidential) => {
    expect(over(requestFrom(TRUSTED, proto(value)))).toBe(confidential);
    expect(over(requestFrom(`::ffff:${TRUSTED}`, proto(value)))).toBe(confidential);
  });

  test('a request from a trusted proxy without the field is not confidential', () => {
    expect(over(requestFrom(TRUSTED))).toBe(false);
  });

  test('RFC 9110 section 5.3: a request from a trusted proxy with the field twice is malformed', () => {
    for (const values of [
      ['https', 'https'],
      ['http', 'https'],
    ]) {
      expect(() => over(requestFrom(TRUSTED, proto(...values)))).toThrow(BadRequest);
      expect(over(requestFrom(STRANGER, proto(...values)))).toBe(false);
    }
  });
});

describe('the data of a request', () => {
  test('the request has its origin, target and fields; a field that comes twice is malformed', () => {
    const fields = [
      ['Authorization', 'One x'],
      ['authorization', 'Two y'],
      ['X-API-Key', 'k'],
    ] as const;
    const asked = authRequest(requestFrom(STRANGER, fields), ASKED, { ...FAR, at: PROXY });
    expect(asked).toMatchObject({ ...ASKED, at: PROXY });
    expect(asked.lines('AUTHORIZATION')).toEqual(['One x', 'Two y']);
    expect(asked.field('x-api-key')).toBe('k');
    expect(asked.field('Origin')).toBeUndefined();
    expect(() => asked.field('Authorization')).toThrow(BadRequest);
  });

  test('the peer is the client behind trusted proxies, and undefined if the connection has ended', () => {
    const forwarded = [['X-Forwarded-For', STRANGER]] as const;
    const peerOf = (address: string | undefined) =>
      authRequest(requestFrom(address, forwarded), ASKED, FAR).peer;
    expect(peerOf(TRUSTED)).toMatchObject({ address: STRANGER, trusted: true, http2: false });
    expect(peerOf('198.51.100.1')).toMatchObject({ address: '198.51.100.1', trusted: false });
    expect(peerOf(undefined)).toMatchObject({ address: '', trusted: false });
  });

  test('RFC 9112 section 9.3: requests of one connection have the same object, other connections have other objects', async () => {
    const connections: object[] = [];
    const server = http.createServer((request, response) => {
      connections.push(authRequest(request, ASKED, LOCAL).peer.connection);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = async (agent: http.Agent) => {
      const [response] = (await once(http.get({ port, agent }), 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
    };
    const agents = [1, 2].map(() => new http.Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of [...agents, ...agents]) await ask(agent);
    for (const agent of agents) agent.destroy();
    await new Promise((closed) => server.close(closed));
    const [first, second, third, fourth] = connections;
    expect([first === third, second === fourth, first === second]).toEqual([true, true, false]);
  });

  test('RFC 7616 section 3.4.3: the request gives the digest of its content', async () => {
    const request = requestFrom(STRANGER);
    request.push('content');
    request.push(null);
    const digest = await authRequest(request, ASKED, FAR).content?.digest('md5');
    expect(digest?.toString('hex')).toBe('9a0364b9e99bb480dd25e1f0284c8555');
  });

  test("content behind a trusted proxy uses up the limit of its client, and leaves space for the proxy's other clients", async () => {
    await using sockets = new AsyncDisposableStack();
    const keep = async (client: string): Promise<number> => {
      const socket = new Socket();
      sockets.defer(() => void socket.destroy());
      const request = requestFrom(TRUSTED, [['X-Forwarded-For', client]], socket);
      request.complete = true;
      request.push(Buffer.alloc(20_000));
      request.push(null);
      try {
        await authRequest(request, ASKED, FAR).content?.digest('md5');
        return 200;
      } catch (error) {
        return (error as HttpError).status;
      }
    };
    const statuses: number[] = [];
    for (let time = 0; time < 129; time += 1) statuses.push(await keep(STRANGER));
    expect(statuses.slice(-2)).toEqual([200, 503]);
    expect(await keep('198.51.100.1')).toBe(200);
  });
});
