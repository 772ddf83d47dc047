/** The field that each front adds for the server behind it, octet by octet (RFC 9729 section 6.2). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exportField, withProof } from '../../clients/concealed/concealed-client.ts';
import { encodeContext } from '../../clients/concealed/exporter-context.ts';
import {
  ALGORITHMS,
  type AlgorithmName,
  newKey,
  publicOctets,
} from '../../clients/concealed/keys.ts';
import {
  EXPORTED,
  exporterOf,
  LABEL,
  overTls1,
  overTls2,
} from '../../clients/concealed/over-tls.ts';
import type { BoundConnection } from '../../clients/concealed/over-tls.ts';
import { overHttp, tunnelAgent } from '../../clients/digest/over-http.ts';
import type { Field, HttpRequest } from '../../clients/digest/exchange.ts';
import { freePort } from '../../parts/free-port.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { makeCertificate } from '../proxy-site.ts';
import { startGateway, startHaproxy } from './fronts.ts';

const GET: HttpRequest = { method: 'GET', target: '/', fields: [], content: Buffer.alloc(0) };
const KEY = newKey('ed25519', 'basement');
const FORGED = exportField(Buffer.alloc(EXPORTED));
/** Spellings of the field that a client may send and a server may accept. */
const SPELLINGS = [
  'Concealed-Auth-Export',
  'concealed-auth-export',
  'CONCEALED-AUTH-EXPORT',
  'Concealed_Auth_Export',
  'Concealed-Auth_Export',
  'concealed_auth-export',
];

type Bound = Pick<BoundConnection, 'exporter' | 'send'>;
const portOf = (origin: string) => Number(new URL(origin).port);

describe.each([
  { name: 'HAProxy', start: startHaproxy, hosts: ['other.example'] },
  { name: 'our gateway', start: startGateway, hosts: [] },
])('$name', ({ start, hosts }) => {
  const parts = new AsyncDisposableStack();
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `https://localhost:${port}`;
    const { path: folder } = parts.use(await temporaryFolder());
    const certificate = parts.use(await makeCertificate());
    parts.use(await start({ folder, origin, upstream: await startEcho(), certificate }));
  });
  afterAll(() => parts.disposeAsync());

  /** Answers with the lines of every field that could be read as the front's own field. */
  async function startEcho(): Promise<string> {
    const server = createServer(({ rawHeaders }, response) => {
      const lines = rawHeaders.flatMap((name, at) =>
        at % 2 === 0 && /^concealed.auth.export$/i.test(name) ? [rawHeaders[at + 1]] : [],
      );
      response.end(JSON.stringify(lines));
    });
    parts.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const open = (options: object = {}) =>
    overTls1('localhost', portOf(origin), { rejectUnauthorized: false, ...options });

  async function resumed(): Promise<TLSSocket> {
    const options = { host: 'localhost', port: portOf(origin), rejectUnauthorized: false };
    const before = connect(options);
    const [session] = (await once(before, 'session')) as [Buffer];
    before.destroy();
    const socket = connect({ ...options, session });
    await once(socket, 'secureConnect');
    expect(socket.isSessionReused()).toBe(true);
    return socket;
  }

  const sendOver = (socket: TLSSocket) =>
    overHttp({ host: 'localhost', port: portOf(origin), agent: tunnelAgent(socket) });

  async function told(connection: Bound, request: HttpRequest, more: readonly Field[] = []) {
    const answer = await connection.send({ ...request, fields: [...more, ...request.fields] });
    expect(answer.status).toBe(200);
    return JSON.parse(answer.content.toString()) as string[];
  }

  /** Returns the value that RFC 9729 requires for this key on this connection. */
  function right({ exporter }: Bound, key = KEY, realm = '') {
    const context = encodeContext({
      algorithm: ALGORITHMS[key.algorithm].code,
      keyId: key.keyId,
      publicKey: publicOctets(key),
      scheme: 'https',
      host: 'localhost',
      port: portOf(origin),
      realm,
    });
    return [exportField(exporter(context))[1]];
  }

  const proving = ({ exporter }: Bound, more: object = {}) =>
    withProof(GET, { key: KEY, exporter, origin, ...more });

  describe("RFC 8446 section 7.5: the front sends the connection's exporter value", () => {
    test.each(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])(
      'for a client with %s and every algorithm',
      async (ciphers) => {
        await using connection = await open({ ciphers });
        for (const algorithm of Object.keys(ALGORITHMS) as AlgorithmName[]) {
          const key = newKey(algorithm, '');
          for (const length of [1, 63, 64, 300]) {
            const named = { ...key, keyId: Buffer.alloc(length, 'x') };
            const request = proving(connection, { key: named });
            expect(await told(connection, request)).toEqual(right(connection, named));
          }
        }
      },
    );

    test('with another value for each connection, even a resumed one', async () => {
      await using first = await open();
      const socket = await resumed();
      const second = { exporter: exporterOf(socket), send: sendOver(socket) };
      const values = [await told(first, proving(first)), await told(second, proving(second))];
      expect(values).toEqual([right(first), right(second)]);
      socket.destroy();
      expect(values[0]).not.toEqual(values[1]);
    });

    test.each(['basement', 'a b, k=x', "it's = s=1"])('with the realm %j', async (realm) => {
      await using connection = await open();
      const request = proving(connection, { realm });
      expect(await told(connection, request)).toEqual(right(connection, KEY, realm));
    });

    test('for its own origin, whatever Host and target name', async () => {
      await using connection = await open();
      for (const target of ['/', `${origin}/`]) {
        const request = { ...proving(connection), target };
        const more = target === '/' ? hosts.map((host): Field => ['Host', host]) : [];
        expect(await told(connection, request, more)).toEqual(right(connection));
      }
    });

    test('for a connection over HTTP/2', async () => {
      await using connection = await overTls2(origin);
      const request = { ...proving(connection), target: `${origin}/` };
      expect(await told(connection, request, [FORGED])).toEqual(right(connection));
      expect(await told(connection, { ...GET, target: `${origin}/` }, [FORGED])).toEqual([]);
    });
  });

  describe("RFC 9729 section 6.2: the front never forwards a client's own field", () => {
    test.each(SPELLINGS)(
      '%s, without and with a proof, before and after it, or twice',
      async (name) => {
        await using connection = await open();
        const forged: Field = [name, FORGED[1]];
        for (const more of [[forged], [forged, forged], [forged, FORGED]]) {
          expect(await told(connection, GET, more)).toEqual([]);
          expect(await told(connection, GET, [['Authorization', 'Bearer x'], ...more])).toEqual([]);
          expect(await told(connection, proving(connection), more)).toEqual(right(connection));
          const { fields, ...rest } = proving(connection);
          const before = { ...rest, fields: [...fields, ...more] };
          expect(await told(connection, before)).toEqual(right(connection));
        }
      },
    );

    test.each([
      ['without parameters', 'Concealed'],
      ['with one of five parameters', 'Concealed k=eA'],
      ['with an empty parameter', 'Concealed k=, a=eA, s=2055, v=eA, p=eA'],
      ['with a number that is text', 'Concealed k=eA, a=eA, s=x, v=eA, p=eA'],
      ['with a number in hexadecimal', 'Concealed k=eA, a=eA, s=0x807, v=eA, p=eA'],
      ['too high', 'Concealed k=eA, a=eA, s=65536, v=eA, p=eA'],
      ['far too high', `Concealed k=eA, a=eA, s=${'9'.repeat(400)}, v=eA, p=eA`],
      ['no base64url', 'Concealed k=e**A, a=eA, s=2055, v=eA, p=eA'],
      ['an open quote', 'Concealed k="eA, a=eA, s=2055, v=eA, p=eA'],
      ['nothing else', 'Concealed ,,,=,='],
      ['of another scheme', 'Concealedly k=eA, a=eA, s=2055, v=eA, p=eA'],
    ])('and adds no field for malformed credentials: %s', async (_, authorization) => {
      await using connection = await open();
      expect(await told(connection, GET, [['Authorization', authorization], FORGED])).toEqual([]);
      expect(await told(connection, proving(connection))).toEqual(right(connection));
    });
  });

  test('RFC 9729 section 7: the front adds no field over TLS 1.2', async () => {
    const port = portOf(origin);
    const only = { rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
    const socket = connect({ host: 'localhost', port, ...only });
    await once(socket, 'secureConnect');
    const exporter = (context: Buffer) => socket.exportKeyingMaterial(EXPORTED, LABEL, context);
    const { fields } = withProof(GET, { key: KEY, exporter, origin });
    const lines = [...fields, FORGED].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n${lines}\r\n`);
    let answer = '';
    for await (const piece of socket) answer += String(piece);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n(?:2\r\n)?\[\]/);
  });
});
