import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientOf } from '../spaces-under-test.fixture.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

const GONE = 'http://127.0.0.1:9/';

let breakOff = () => {};
/** The octets that a server that does not speak HTTP answers. */
let malformed = '';
const raw = createServer((socket) => {
  socket.on('error', () => {}).once('data', () => socket.end(malformed, 'latin1'));
});
let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  application = await startApplication((request, response) => {
    if (request.url !== '/breaks-off') {
      response.end();
      return;
    }
    response.writeHead(200, { 'Content-Length': 10 }).write('half');
    breakOff = () => response.destroy();
  });
  const { url } = application;
  await once(raw.listen(0, '127.0.0.1'), 'listening');
  const { port } = raw.address() as AddressInfo;
  gateway = await startGateway({
    there: { upstream: { url } },
    two: { upstream: { urls: [GONE, url] } },
    gone: { upstream: { url: GONE } },
    odd: { upstream: { url: `http://127.0.0.1:${port}/`, webSockets: {} } },
  });
  as = clientOf(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
  raw.close();
});

/** Waits for lines of the log with these members. */
async function logged(members: object): Promise<Record<string, unknown>[]> {
  for (;;) {
    const told = gateway.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const found = told.filter((line) =>
      Object.entries(members).every(([name, value]) => line[name] === value),
    );
    if (found.length > 0) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('the log line names the application that got the request, or none', async () => {
  await as('GET', '/there/x');
  const [line] = await logged({ path: '/there/x' });
  expect(line).toMatchObject({ status: 200, host: `127.0.0.1:${application.port}` });
  await as('TRACE', '/there/y');
  const [refused] = await logged({ path: '/there/y' });
  expect([refused?.['status'], refused?.['host']]).toEqual([405, undefined]);
});

test('a request that failed at one instance and succeeded at another has a warning with its id', async () => {
  for (const path of ['/two/a', '/two/b']) {
    expect(await as('GET', path)).toMatchObject({ status: 200 });
  }
  const [failed] = await logged({ event: 'upstream.failed' });
  expect(failed).toMatchObject({
    level: 'warn',
    host: '127.0.0.1:9',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  const [request] = await logged({ event: 'request', id: failed?.['id'] });
  expect(request).toMatchObject({ status: 200, host: `127.0.0.1:${application.port}` });
});

test('if no instance answers, the log line gives the reason, and the client does not learn it', async () => {
  const { text } = await as('GET', '/gone/x');
  expect(text).not.toContain('127.0.0.1');
  const [line] = await logged({ path: '/gone/x' });
  expect(line).toMatchObject({
    status: 502,
    host: '127.0.0.1:9',
    reason: expect.stringMatching(/^The application cannot be reached\. connect ECONNREFUSED/),
  });
});

const WAYS = {
  'over a kept connection': {},
  'with trailers': { TE: 'trailers', Connection: 'TE' },
  'to a handshake': {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  },
};

describe.each([
  ['a bare LF', 'HTTP/1.1 200 OK\nX: secret\n\n', /Missing expected CR/],
  [
    'Content-Length twice',
    `HTTP/1.1 200 OK\r\n${'Content-Length: 2\r\n'.repeat(2)}\r\nok`,
    /Content-Length/,
  ],
  ['an invalid field', 'HTTP/1.1 200 OK\r\nX secret: a\r\n\r\n', /Invalid header token/],
  [
    'another protocol',
    'ICY 200 OK\r\nX: secret\r\n\r\n',
    /Expected HTTP/,
    /It sent "(?:IC)?Y 200 OK"/,
  ],
  [
    'a long header section',
    `HTTP/1.1 200 OK\r\nX: ${'secret'.repeat(20_000)}\r\n\r\n`,
    /overflow/i,
  ],
  ['nothing', '', /ended the connection without an answer/, /ended the connection/],
])(
  '502 says that the application sent %s (RFC 9110 section 15.6.3)',
  (name, sent, rule, more = rule) => {
    test.each(Object.entries(WAYS))(
      'the log line of a 502 says that the application sent %s',
      async (way, headers) => {
        malformed = sent;
        const path = `/odd/${encodeURIComponent(name + way)}`;
        const { status, text } = await as('GET', path, { headers });
        expect([status, text]).toEqual([502, expect.stringMatching(rule)]);
        expect(text).not.toMatch(/secret|ICY|cannot be reached/);
        const [line] = await logged({ path });
        expect(line?.['reason']).toMatch(rule);
        expect(line?.['reason']).toMatch(more);
        expect(line?.['reason']).not.toContain('secret');
      },
    );
  },
);

test('the log line of an answer that breaks off says which side broke it off', async () => {
  const token = gateway.token('there:read');
  const request = http.get({
    port: gateway.listening.port,
    path: '/there/breaks-off',
    headers: { Authorization: `Bearer ${token}` },
  });
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.on('error', () => {}).resume();
  breakOff();
  const [line] = await logged({ path: '/there/breaks-off' });
  expect(line).toMatchObject({ cut: true, reason: 'The destination broke off its answer.' });
});
