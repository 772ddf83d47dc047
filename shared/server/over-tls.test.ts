import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { connect } from 'node:tls';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { type Config, configSchema } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import type { AnyHandler } from '#shared/server/message/message.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { overTls } from './over-tls.ts';

const parts = { clock: systemClock, random: systemRandom, log: silentLog };
const handler: AnyHandler = (request, response) => {
  const content: Writable = response;
  content.end(`${request.method} over ${request.httpVersion}`);
};

let data = '';
let open: Listening[] = [];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'countersign-tls-'));
});
afterEach(async () => {
  await Promise.all(open.map((listening) => listening.close(0)));
  open = [];
  await rm(data, { recursive: true });
});

async function start(tls: object = {}, boundTo?: string): Promise<Listening> {
  const config: Config = configSchema.parse({ data, tls, listen: { resourceTls: { port: 0 } } });
  const main = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
  open.push(main);
  const beside = overTls({
    ...parts,
    name: 'resourceTls',
    files: { ...config.tls },
    config,
    handler,
    boundTo,
  });
  expect(beside.name).toBe('resourceTls');
  const listening = await beside.open(main, [main]);
  open.push(listening);
  return listening;
}

async function get({ port }: Listening, ca: string, host = 'localhost'): Promise<string> {
  const request = https.get({ host: '127.0.0.1', port, ca, servername: host, agent: false });
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer>];
  return text(response);
}

async function get2({ port }: Listening, ca: string, host = 'localhost'): Promise<string> {
  const client = http2.connect(`https://${host}:${port}`, { ca });
  try {
    return await text(client.request({ ':method': 'QUERY' }));
  } finally {
    client.destroy();
  }
}

describe('the resource server over TLS', () => {
  test('RFC 9113 section 3.2: the server serves HTTP/2 and HTTP/1.1 with the certificate of development', async () => {
    const listening = await start();
    const ca = await readFile(join(data, 'tls/certificate.pem'), 'utf8');
    expect(await get(listening, ca)).toBe('GET over 1.1');
    expect(await get2(listening, ca)).toBe('QUERY over 2.0');
    expect(await get2(listening, ca, '127.0.0.1')).toBe('QUERY over 2.0');
  });

  test('the certificate of development names the host of the origin, too', async () => {
    const listening = await start({ resource: 'https://dav.localhost:3443' });
    const ca = await readFile(join(data, 'tls/certificate.pem'), 'utf8');
    expect(await get(listening, ca, 'dav.localhost')).toBe('GET over 1.1');
    await expect(get(listening, ca, 'elsewhere.localhost')).rejects.toThrow(/altnames/);
  });

  test('a client trusts the certificate of development only if it is configured to', async () => {
    const listening = await start();
    const other = selfSigned(['localhost'], systemClock, systemRandom);
    await expect(get(listening, String(other.cert))).rejects.toThrow(/self-signed/);
  });

  test('with configured files, the server uses them, and makes no certificate', async () => {
    const made = selfSigned(['localhost'], systemClock, systemRandom);
    const files = { certificate: join(data, 'c.pem'), key: join(data, 'k.pem') };
    await writeFile(files.certificate, made.cert);
    await writeFile(files.key, made.key);
    const listening = await start(files);
    expect(await get(listening, String(made.cert))).toBe('GET over 1.1');
    await expect(readFile(join(data, 'tls/certificate.pem'))).rejects.toThrow(/ENOENT/);
  });

  test('a missing or invalid certificate file stops the start', async () => {
    const files = { certificate: join(data, 'c.pem'), key: join(data, 'k.pem') };
    await expect(start(files)).rejects.toThrow(/ENOENT/);
    await writeFile(files.certificate, 'nothing');
    await writeFile(files.key, 'nothing');
    await expect(start(files)).rejects.toThrow();
  });

  test.each(['https://localhost:3443', 'https://127.0.0.1:3443', 'https://[::1]:3443'])(
    'a listener bound to %s has a certificate with that name',
    async (origin) => {
      await start({}, origin);
      const other = selfSigned(['elsewhere.example'], systemClock, systemRandom);
      const files = { certificate: join(data, 'c.pem'), key: join(data, 'k.pem') };
      await writeFile(files.certificate, other.cert);
      await writeFile(files.key, other.key);
      await expect(start(files, origin)).rejects.toThrow(/the certificate is not of/);
    },
  );

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a session of %s', (version) => {
    /** True if a second connection resumes the session of the first. */
    async function resumes({ port }: Listening): Promise<boolean> {
      const visit = async (session?: Buffer) => {
        const socket = connect({
          port,
          host: '127.0.0.1',
          rejectUnauthorized: false,
          minVersion: version,
          maxVersion: version,
          ...(session && { session }),
        });
        let latest: Buffer | undefined;
        socket.on('session', (one) => (latest = one));
        await once(socket, 'secureConnect');
        const reused = socket.isSessionReused();
        socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        await text(socket);
        return { reused, session: latest };
      };
      const { session } = await visit();
      return (await visit(session)).reused;
    }

    test('a TLS session is resumed', async () => {
      expect(await resumes(await start())).toBe(true);
    });

    test('a TLS session is not resumed if the listener is bound to its origin (RFC 7486 section 6.3)', async () => {
      expect(await resumes(await start({}, 'https://localhost:3443'))).toBe(false);
    });
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)('%s is refused (RFC 8996)', async (version) => {
    const { port } = await start();
    const request = https.get({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
      agent: false,
    });
    const [error] = (await once(request, 'error')) as [NodeJS.ErrnoException];
    expect(error.message).toMatch(/alert protocol version/);
  });
});
