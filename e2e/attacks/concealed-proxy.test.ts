import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withProof } from '../clients/concealed/concealed-client.ts';
import { type ConcealedKey, newKey } from '../clients/concealed/keys.ts';
import { exporterOf, overTls1, overTls2 } from '../clients/concealed/over-tls.ts';
import type { HttpRequest } from '../clients/digest/exchange.ts';
import { type CertificateFiles, makeCertificate } from '../interop/proxy-site.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { fingerprint, keyOf } from './concealed.fixture.ts';

let files: CertificateFiles;
let pair: Pair;
let key: ConcealedKey;
let origin: Server;
let port: number;
/** Port of the proxy. */
let at: number;

beforeAll(async () => {
  files = await makeCertificate();
  origin = createServer((request, response) => response.end(`${request.method} ${request.url}`));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  ({ port } = origin.address() as AddressInfo);
  pair = await startPair({
    settings: ({ resource }) => ({
      spaces: [{ url: `${resource}/open/`, realm: 'open', schemes: ['Basic'] }],
      proxy: {
        schemes: ['Concealed'],
        hide: 'everything',
        destinations: [`127.0.0.1:${port}`],
        tls: { certificate: files.certificate, key: files.key },
      },
    }),
  });
  await pair.addPerson('alice');
  key = await keyOf(pair, 'alice');
  at = Number(new URL(pair.proxies[0] ?? '').port);
});

afterAll(async () => {
  await pair[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  origin.close();
});

const asking = (method: string, target: string): HttpRequest => {
  return { method, target, fields: [], content: Buffer.alloc(0) };
};

describe('RFC 9729 at a forward proxy: a client that proves its key', () => {
  test.each([
    ['HTTP/1.1', () => overTls1('127.0.0.1', at, { rejectUnauthorized: false })],
    ['HTTP/2', () => overTls2(`https://localhost:${at}`)],
  ])('gets proxied answers and a tunnel over %s', async (_, open) => {
    const of = { key, at: 'proxy', origin: 'https://nowhere.example' } as const;
    await using connection = await open();
    const { exporter } = connection;
    const wanted = asking('GET', `http://127.0.0.1:${port}/a?b`);
    const answer = await connection.send(withProof(wanted, { ...of, exporter }));
    expect([answer.status, answer.content.toString()]).toEqual([200, 'GET /a?b']);
    const asked = asking('CONNECT', `127.0.0.1:${port}`);
    const opened = await connection.send(withProof(asked, { ...of, exporter }));
    expect(opened.status).toBe(200);
    opened.tunnel?.destroy();
  });
});

/** All received text without the values that differ between any two answers. */
async function told(to: number, text: (socket: TLSSocket) => string, halfClose: boolean) {
  const socket = connect({
    host: '127.0.0.1',
    port: to,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  const request = text(socket);
  if (halfClose) socket.end(request);
  else socket.write(request);
  let received = '';
  for await (const piece of socket) received += String(piece);
  return received.replaceAll(/^(date|x-request-id): .*$/gim, '$1').replaceAll(`${to}`, 'port');
}

describe('RFC 9729 section 6.4: without a proof, the proxy port answers like the resource server', () => {
  const host = 'Host: other.example\r\nConnection: close\r\n';
  const stranger = () => {
    const made = newKey('ed25519', '');
    return { ...made, keyId: fingerprint(made) };
  };
  const shown = (method: string, target: string, by: () => ConcealedKey) => (socket: TLSSocket) => {
    const options = {
      at: 'proxy',
      origin: 'https://x.example',
      exporter: exporterOf(socket),
    } as const;
    const { fields } = withProof(asking(method, target), { ...options, key: by() });
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return `${method} ${target} HTTP/1.1\r\n${host}${lines}\r\n`;
  };
  const line =
    (text: string, more = '') =>
    () =>
      `${text} HTTP/1.1\r\n${host}${more}\r\n`;
  const requests: readonly (readonly [string, (socket: TLSSocket) => string])[] = [
    ['an absolute target', line('GET http://a.example/')],
    ['a path', line('GET /open/')],
    ['the home page', line('GET /')],
    ['OPTIONS *', line('OPTIONS *')],
    ['another scheme', line('GET http://a.example/', 'Proxy-Authorization: Basic YTpi\r\n')],
    ['CONNECT', line('CONNECT a.example:443')],
    ['CONNECT to no port', line('CONNECT a.example')],
    [
      'CONNECT with another scheme',
      line('CONNECT a.example:443', 'Proxy-Authorization: Basic YTpi\r\n'),
    ],
    ['CONNECT with content', line('CONNECT a.example:443', 'Content-Length: 3\r\n')],
    ['an unknown key', shown('GET', 'http://127.0.0.1:1/', stranger)],
    ['an unknown key for a tunnel', shown('CONNECT', '127.0.0.1:1', stranger)],
    ['a known key for a path', shown('GET', '/open/', () => key)],
    ['a known key for no host and port', shown('CONNECT', 'a.example', () => key)],
    ['TRACE', line('TRACE /open/')],
    ['what is no request', () => 'x\r\n\r\n'],
    [
      'Via of its own',
      line('GET http://a.example/', 'Via: 1.1 countersign\r\nMax-Forwards: 0\r\n'),
    ],
  ];

  test.each(requests)('the proxy answers like the resource server: %s', async (_, text) => {
    const itself = Number(new URL(pair.resourceTls).port);
    for (const halfClose of [false, true]) {
      const [there, plain] = [await told(at, text, halfClose), await told(itself, text, halfClose)];
      expect(there).toBe(plain);
      expect(there).toMatch(/^HTTP\/1\.1 \d{3} /);
    }
  });

  test('over HTTP/2', async () => {
    for (const [method, target] of [
      ['CONNECT', 'a.example:443'],
      ['GET', 'http://a.example/'],
      ['GET', 'https://localhost/open/'],
    ] as const) {
      const answers = [];
      for (const to of [at, Number(new URL(pair.resourceTls).port)]) {
        await using connection = await overTls2(`https://localhost:${to}`);
        const { status, fields, content } = await connection.send(asking(method, target));
        const names = fields.map(([name, value]) =>
          /^(date|x-request-id)$/.test(name) ? name : [name, value],
        );
        answers.push({ status, names, content: content.toString() });
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  });
});
