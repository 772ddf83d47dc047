import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http2 from 'node:http2';
import https from 'node:https';
import type { Server } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCertificate, startServer } from '../../interop/proxy-site.ts';
import type { Behind } from '../../interop/proxy-site.ts';
import { get } from '../digest/answers.fixture.ts';
import type { HttpRequest } from '../digest/exchange.ts';
import { withProof } from './concealed-client.ts';
import type { ConcealedOptions } from './concealed-client.ts';
import { ALGORITHMS, newKey } from './keys.ts';
import type { AlgorithmName, ConcealedKey } from './keys.ts';
import { LIES_OF_ECDSA, LIES_OF_RSA } from './lies-of-keys.ts';
import { LIES } from './lies.ts';
import { exporterOf, overTls1, overTls2 } from './over-tls.ts';
import type { BoundConnection } from './over-tls.ts';
import { proves } from './verifier.fixture.ts';

/** One RSA key for its three algorithms, because making a key is slow and no key is registered twice. */
const rsa = newKey('rsa_pss_rsae_sha256', 'rsa');
const keyFor = (algorithm: AlgorithmName): ConcealedKey =>
  algorithm.startsWith('rsa')
    ? { ...rsa, algorithm, keyId: Buffer.from(algorithm) }
    : newKey(algorithm, algorithm);
const ALL = Object.keys(ALGORITHMS) as AlgorithmName[];
const KEYS = Object.fromEntries(ALL.map((name) => [name, keyFor(name)])) as Record<
  AlgorithmName,
  ConcealedKey
>;
const KNOWN = new Map(
  ALL.map((name) => {
    const publicKey = createPublicKey(KEYS[name].privateKey);
    return [name, { algorithm: ALGORITHMS[name].code, publicKey }];
  }),
);

const YES = 204;
const NO = 404;

const parts = new AsyncDisposableStack();
let tls: { readonly cert: Buffer; readonly key: Buffer };
let h1: Behind;
let h2: Behind;
beforeAll(async () => {
  const files = parts.use(await makeCertificate());
  tls = { cert: await readFile(files.certificate), key: await readFile(files.key) };
  h1 = parts.use(await startServer(ofHttp1()));
  h2 = parts.use(await startServer(ofHttp2()));
});
afterAll(async () => parts.disposeAsync());

/** Checks the proof as an origin or a proxy does, and answers with the verdict. */
function verdict(socket: TLSSocket, method: string, uri: string, fields: Fields): number {
  const at =
    method === 'CONNECT' || uri.includes('proxied') ? 'proxy-authorization' : 'authorization';
  const url = new URL(method === 'CONNECT' ? `https://${uri}` : uri);
  return proves([fields[at] ?? []].flat() as string[], socket, url, KNOWN) ? YES : NO;
}
type Fields = Readonly<Record<string, unknown>>;

function ofHttp1(): Server {
  const server = https.createServer(tls, (request, response) => {
    const { socket, method = '', url = '', headers, headersDistinct } = request;
    const uri = url.startsWith('/') ? `https://${headers.host}${url}` : url;
    response.writeHead(verdict(socket as TLSSocket, method, uri, headersDistinct)).end();
  });
  server.on('connect', ({ method = '', url = '', headersDistinct }, socket) => {
    const status = verdict(socket as TLSSocket, method, url, headersDistinct);
    socket.end(`HTTP/1.1 ${status} x\r\n\r\n`);
  });
  return server;
}

function ofHttp2(): Server {
  const server = http2.createSecureServer(tls);
  server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
    const { ':method': method = '', ':authority': authority = '' } = headers;
    const { ':scheme': scheme, ':path': path } = headers;
    const uri = method === 'CONNECT' ? authority : `${scheme}://${authority}${path}`;
    const socket = stream.session?.socket as TLSSocket;
    stream.respond({ ':status': verdict(socket, method, uri, headers) }, { endStream: true });
  });
  return server;
}

const VERSIONS: readonly (readonly [
  version: string,
  open: () => Promise<BoundConnection>,
  server: () => Behind,
])[] = [
  ['HTTP/1.1', () => overTls1('localhost', h1.port, { ca: tls.cert }), () => h1],
  ['HTTP/2', () => overTls2(`https://localhost:${h2.port}`), () => h2],
];

describe.each(VERSIONS)('RFC 9729 over %s', (_version, open, server) => {
  const home = () => `https://localhost:${server().port}`;
  const options = (
    { exporter }: BoundConnection,
    algorithm: AlgorithmName = 'ed25519',
  ): ConcealedOptions => ({ exporter, origin: home(), key: KEYS[algorithm] });
  const statusOf = async ({ send }: BoundConnection, request: HttpRequest) =>
    (await send(request)).status;

  test.each(ALL)('a server that exports by itself accepts a proof with %s', async (algorithm) => {
    await using connection = await open();
    const honest = options(connection, algorithm);
    const request = get(`${home()}/`);
    expect(await statusOf(connection, withProof(request, honest))).toBe(YES);
    const named = withProof(request, { ...honest, realm: 'a "realm"' });
    expect(await statusOf(connection, named)).toBe(YES);
    expect(await statusOf(connection, request)).toBe(NO);
  });

  test('section 8: one proof is valid for all requests of its connection, and for no other connection', async () => {
    const before = server().connections();
    await using one = await open();
    await using other = await open();
    const proven = withProof(get(`${home()}/`), options(one));
    for (const path of ['/1', '/2', '/3']) {
      const request = { ...proven, target: home() + path };
      expect(await statusOf(one, request)).toBe(YES);
      expect(await statusOf(other, request)).toBe(NO);
    }
    const foreign = { ...options(one), exporter: other.exporter };
    expect(await statusOf(one, withProof(get(`${home()}/`), foreign))).toBe(NO);
    expect(server().connections() - before).toBe(2);
  });

  test('sections 2 and 3.1: at a proxy, a proof covers the URI of the request to the proxy', async () => {
    const targets = ['http://other.example/proxied', 'https://other.example:8443/proxied'];
    for (const target of targets) {
      await using connection = await open();
      const proven = withProof(get(target), { ...options(connection), at: 'proxy' });
      expect(await statusOf(connection, proven)).toBe(YES);
      const elsewhere = { ...proven, target: target.replace('other', 'another') };
      expect(await statusOf(connection, elsewhere)).toBe(NO);
    }
    for (const target of ['other.example:443', '[::1]:80']) {
      const request = { ...get(target), method: 'CONNECT' };
      await using connection = await open();
      const proven = withProof(request, { ...options(connection), at: 'proxy' });
      expect((await connection.send(proven)).status).toBe(YES);
    }
  });

  describe('a server refuses a false proof', () => {
    let connection: BoundConnection;
    beforeAll(async () => {
      connection = await open();
    });
    afterAll(async () => connection[Symbol.asyncDispose]());

    test.each([
      ...LIES.map(([what, lie]) => ['ed25519', what, lie] as const),
      ...(['ecdsa_secp256r1_sha256', 'ecdsa_secp384r1_sha384'] as const).flatMap((algorithm) =>
        LIES_OF_ECDSA.map(([what, lie]) => [algorithm, what, lie] as const),
      ),
      ...LIES_OF_RSA.map(([what, lie]) => ['rsa_pss_rsae_sha256', what, lie] as const),
    ])('a proof by a key of %s is refused: %s', async (algorithm, _what, lie) => {
      const lying = withProof(get(`${home()}/`), lie(options(connection, algorithm)));
      expect(await statusOf(connection, lying)).toBe(NO);
    });
  });
});

test('section 7: a connection over TLS 1.2 has no exporter', async () => {
  const socket = connect({ host: 'localhost', port: h1.port, ca: tls.cert, maxVersion: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  expect(() => exporterOf(socket)).toThrow('TLS 1.3');
  socket.destroy();
});
