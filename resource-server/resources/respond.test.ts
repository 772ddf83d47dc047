import type { AuthRequest } from '#shared/auth/scheme.ts';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Fields } from '#shared/http/answer.ts';
import { ORIGIN, type Seal } from '#shared/auth/scheme.ts';
import { systemClock } from '#shared/base/clock.ts';
import { parseTarget } from '#shared/http/target.ts';
import { jsonLog } from '#shared/base/log.ts';
import { HttpError } from '#shared/http/answer.ts';
import { listed } from '#shared/server/endpoints/cors.ts';
import type { Space } from '../space/spaces.ts';
import { onKoa } from '../answers/koa.ts';
import { piecesFrom } from '../answers/pieces.fixture.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Resource } from './resource/resource.ts';
import { respond } from './respond.ts';
import { errorsOf } from '../pages/errors.fixture.ts';

const space: Space = {
  at: ORIGIN,
  realm: 'people',
  schemes: [],
  scopes: () => [],
  url: 'https://rs.example/',
  origin: 'https://rs.example',
  segments: [],
  has: () => true,
  mayHave: () => true,
  upstream: undefined,
  encloses: () => false,
  allScopes: [],
  corsOrigins: [],
  corsCredentials: false,
  cors: listed({ origins: [], credentials: false }),
  serves: 'identity',
  tree: 'shared',
  trace: undefined,
};

type Handler = () => Promise<ResourceAnswer>;

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');
const seal: Seal<Fields> = {
  hash: 'sha256',
  proof: (digest) => ({ 'Authentication-Info': `rspauth="${digest.toString('hex')}"` }),
};
const proofOf = (content: string) => `rspauth="${sha256(content)}"`;

const LONG = 'a long content '.repeat(20_000);
async function* inPieces() {
  for (let at = 0; at < LONG.length; at += 10_000) yield Buffer.from(LONG.slice(at, at + 10_000));
}
const sourceClosed = Promise.withResolvers<void>();
const streams = (source: () => AsyncIterable<Buffer> | Iterable<Buffer>): Handler => {
  return async () => ({
    status: 200,
    fields: { 'Content-Length': String(LONG.length) },
    body: piecesFrom(source),
  });
};

const HANDLERS: Readonly<Record<string, Handler>> = {
  '/text': async () => ({ status: 200, fields: {}, body: 'text: ä' }),
  '/buffer': async () => ({ status: 200, fields: {}, body: Buffer.from('buffer') }),
  '/created': async () => ({ status: 201, fields: {} }),
  '/nothing': async () => ({ status: 204, fields: {} }),
  '/unchanged': async () => ({ status: 304, fields: {} }),
  '/stream': streams(inPieces),
  '/empty-stream': streams(() => []),
  '/broken-stream': streams(async function* () {
    yield Buffer.from('first');
    throw new Error('the disk is gone');
  }),
  '/endless-stream': streams(async function* () {
    try {
      for (;;) yield Buffer.alloc(100_000);
    } finally {
      sourceClosed.resolve();
    }
  }),
  '/teapot': async () => {
    throw new HttpError(409, 'No.', { 'X-Reason': 'conflict' });
  },
};

const logged: string[] = [];
const log = jsonLog((line) => logged.push(line), systemClock, 'resource');
const { failed } = errorsOf(log);
const run = onKoa(async ({ request }) => {
  const target = parseTarget(request.url ?? '');
  if (target === undefined) throw new Error('the test asked for no path');
  const handler = HANDLERS[target.path];
  const resource: Resource | undefined = handler && {
    missing: false,
    methods: ['GET', 'HEAD'],
    options: {},
    perform: handler,
  };
  const principal = { kind: 'anonymous' } as const;
  const passed = { kind: 'pass', scheme: 'Digest', principal, fields: {} } as const;
  return respond(
    {
      request,
      target,
      passed: target.query === 'plain' ? passed : { ...passed, seal },
      fields: { 'X-Space': 'set' },
      watch: () => () => undefined,
      asked: () => ({ peer: { address: '192.0.2.1' } }) as AuthRequest,
    },
    { space, resources: { possible: () => [], find: async () => resource }, failed },
  );
}, log);
const server = http.createServer((request, response) => void run({ request, response }));
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function ask(path: string, method = 'GET') {
  const request = http.request({ host: '127.0.0.1', port, path, method });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const content = await text(response);
  const { statusCode: status, headers, trailers } = response;
  return { status, headers, trailers, content };
}

/** Reads the whole answer as raw bytes of the connection. */
async function raw(path: string, version: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', ({ message }) => pieces.push(Buffer.from(message)));
  await new Promise((resolve) => void socket.once('close', resolve));
  return Buffer.concat(pieces).toString();
}

describe('RFC 7616 section 3.5, auth-int: the proof of an answer is in a field', () => {
  test.each([
    ['a string', '/text', 200, 'text: ä'],
    ['a Buffer', '/buffer', 200, 'buffer'],
    ['no content', '/created', 201, ''],
    ['204', '/nothing', 204, ''],
    ['304', '/unchanged', 304, ''],
  ])('an answer with %s has its proof in a field', async (_, path, status, content) => {
    const answer = await ask(path);
    expect(answer).toMatchObject({ status, content, trailers: {} });
    expect(answer.headers).toMatchObject({
      'authentication-info': proofOf(content),
      'x-space': 'set',
    });
  });

  test.each(['/text', '/buffer', '/stream'])(
    'HEAD has no content and the proof of empty content: %s',
    async (path) => {
      const answer = await ask(path, 'HEAD');
      expect(answer).toMatchObject({ status: 200, content: '' });
      expect(answer.headers['authentication-info']).toBe(proofOf(''));
    },
  );

  test.each([
    ['404', '/missing', 'GET', 404],
    ['405', '/text', 'DELETE', 405],
    ['what a handler throws', '/teapot', 'GET', 409],
  ])('an error answer has a proof, too: %s', async (_, path, method, status) => {
    const answer = await ask(path, method);
    expect(answer.status).toBe(status);
    expect(answer.content).not.toBe('');
    expect(answer.headers).toMatchObject({
      'authentication-info': proofOf(answer.content),
      'x-space': 'set',
    });
  });

  test('an error answer to HEAD has the proof of empty content', async () => {
    const answer = await ask('/teapot', 'HEAD');
    expect(answer).toMatchObject({ status: 409, content: '' });
    expect(answer.headers['authentication-info']).toBe(proofOf(''));
  });

  test('the answer to OPTIONS has a proof', async () => {
    const answer = await ask('/text', 'OPTIONS');
    expect(answer).toMatchObject({ status: 204 });
    expect(answer.headers['authentication-info']).toBe(proofOf(''));
  });

  test('without a seal an answer has no proof, and a stream keeps its length', async () => {
    const answer = await ask('/stream?plain');
    expect(answer).toMatchObject({ content: LONG, trailers: {} });
    expect(answer.headers).toMatchObject({ 'content-length': String(LONG.length) });
    expect(answer.headers).not.toHaveProperty('trailer');
  });
});

describe('RFC 7616 section 3.5: the proof of a streamed answer is in a trailer', () => {
  test.each([
    ['/stream', LONG],
    ['/empty-stream', ''],
  ])('the streamed answer of %s has its proof in a trailer', async (path, content) => {
    const answer = await ask(path);
    expect(answer).toMatchObject({
      status: 200,
      content,
      trailers: { 'authentication-info': proofOf(content) },
    });
    expect(answer.headers).toMatchObject({
      trailer: 'Authentication-Info',
      'transfer-encoding': 'chunked',
      'x-space': 'set',
    });
    expect(answer.headers).not.toHaveProperty('content-length');
    expect(answer.headers).not.toHaveProperty('authentication-info');
  });

  test('a streamed answer over HTTP/2 has its proof in a trailer', async () => {
    const both = http2.createServer((request, response) => void run({ request, response }));
    both.listen(0, '127.0.0.1');
    await once(both, 'listening');
    const { port: at } = both.address() as AddressInfo;
    const client = http2.connect(`http://127.0.0.1:${at}`);
    const asking = client.request({ ':path': '/stream' });
    const trailers = once(asking, 'trailers');
    expect(await text(asking)).toBe(LONG);
    expect((await trailers)[0]).toMatchObject({ 'authentication-info': proofOf(LONG) });
    client.close();
    both.close();
  });

  test('HTTP/1.0 has no trailers, so the content is sent without a proof', async () => {
    const answer = await raw('/stream', '1.0');
    const [head = '', content] = answer.split('\r\n\r\n');
    expect(content).toBe(LONG);
    expect(head).toContain(`Content-Length: ${LONG.length}`);
    expect(head).not.toMatch(/authentication-info|trailer|chunked/i);
  });

  test('a stream that fails is cut off, so that it never looks complete', async () => {
    const answer = await raw('/broken-stream', '1.1');
    expect(answer).not.toContain('rspauth');
    expect(answer).not.toMatch(/\r\n0\r\n/);
    expect(answer).toContain('ECONNRESET'); // HTTP/1.0 reports the failure in no other way (RFC 9112 section 8)
    expect(logged.join('')).toContain('the disk is gone');
  });

  test('the source of a stream ends when the client leaves', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.write('GET /endless-stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    await sourceClosed.promise;
  });
});
