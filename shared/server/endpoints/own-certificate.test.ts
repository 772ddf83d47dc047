import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { listen, type Listening } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { ownCertificate } from './auth-request.ts';
import { selfSigned } from '../listen/self-signed.ts';

/** Answers with the certificate that the server reports as its own. */
const handler: AnyHandler = (request, response) => {
  const content: Writable = response;
  content.end(ownCertificate(request)?.());
};

let listening: Listening;
const certificate = selfSigned(['localhost'], systemClock, systemRandom);
beforeAll(async () => {
  const secure = { handler, certificate };
  const where = { host: '127.0.0.1', port: 0 };
  listening = await listen({ ...where, handler, http2: secure, log: silentLog });
});
afterAll(() => listening.close(0));

const place = () => ({
  host: '127.0.0.1',
  port: listening.port,
  ca: certificate.cert,
  servername: 'localhost',
});

test.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])(
  'RFC 5929 section 4.1: what the client has seen, on a resumed connection too: %s',
  async (maxVersion) => {
    const agent = new https.Agent({ keepAlive: false, maxCachedSessions: 10 });
    let seen: Buffer | undefined;
    for (const resumed of [false, true]) {
      const [response] = await once(https.get({ ...place(), agent, maxVersion }), 'response');
      const socket = response.socket as TLSSocket;
      seen ??= socket.getPeerCertificate().raw;
      expect(await buffer(response)).toEqual(seen);
      expect(socket.isSessionReused()).toBe(resumed);
    }
  },
);

test("the server's own certificate is known over HTTP/2, too", async () => {
  const socket = connect({ ...place(), ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const seen = socket.getPeerCertificate().raw;
  const session = http2.connect('https://localhost', { createConnection: () => socket });
  expect(await buffer(session.request({ ':path': '/' }))).toEqual(seen);
  session.close();
});

test.each(['http/1.1', 'h2'])(
  'a client that disconnects meanwhile causes no error 500: %s',
  async (version) => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const waiting: AnyHandler = (request, response) => {
      const told = ownCertificate(request);
      response.once('close', () => {
        try {
          left.resolve(told?.());
        } catch (error) {
          left.resolve(error);
        }
      });
      arrived.resolve();
    };
    const where = { host: '127.0.0.1', port: 0, log: silentLog };
    const secure = { handler: waiting, certificate };
    const other = await listen({ ...where, handler: waiting, http2: secure });
    const socket = connect({ ...place(), port: other.port, ALPNProtocols: [version] });
    await once(socket, 'secureConnect');
    if (version === 'h2') {
      const session = http2.connect('https://localhost', { createConnection: () => socket });
      session.request({ ':path': '/' }).on('error', () => {});
    } else {
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    }
    await arrived.promise;
    socket.destroy();
    expect(await left.promise).toBeInstanceOf(BadRequest);
    await other.close(0);
  },
);

test('there is no certificate over clear text', () => {
  expect(ownCertificate({ socket: new Socket() })).toBeUndefined();
});
