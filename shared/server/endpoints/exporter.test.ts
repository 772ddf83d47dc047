import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { exporterOf } from './exporter.ts';
import { listen, type Listening } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { selfSigned } from '../listen/self-signed.ts';

const [LABEL, CONTEXT, LENGTH] = ['EXPORTER-HTTP-Concealed-Authentication', Buffer.of(1, 2), 48];
const ours = (socket: TLSSocket) =>
  socket.exportKeyingMaterial(LENGTH, LABEL, CONTEXT).toString('hex');

/** Answers with the keying material that the server sees, or `none`. */
const handler: AnyHandler = (request, response) => {
  const content: Writable = response;
  content.end(exporterOf(request)?.(LABEL, CONTEXT, LENGTH).toString('hex') ?? 'none');
};

let listening: Listening;
const certificate = selfSigned(['localhost'], systemClock, systemRandom);
beforeAll(async () => {
  const secure = { handler, certificate };
  const where = { host: '127.0.0.1', port: 0 };
  listening = await listen({ ...where, handler, http2: secure, log: silentLog });
});
afterAll(() => listening.close(0));

/** Opens a connection of HTTP/1.1. Returns its TLS version, its keying material and the answer of the server. */
async function ask(maxVersion: SecureVersion) {
  const options = { host: '127.0.0.1', port: listening.port, ca: certificate.cert, maxVersion };
  const request = https.get({ ...options, servername: 'localhost', agent: false });
  const [response] = await once(request, 'response');
  const socket = response.socket as TLSSocket;
  return { version: socket.getProtocol(), own: ours(socket), answer: await text(response) };
}

test('RFC 8446 section 7.5: both ends of a connection export the same key, and no other connection exports it', async () => {
  const connections = await Promise.all([ask('TLSv1.3'), ask('TLSv1.3')]);
  expect(new Set(connections.map(({ answer }) => answer)).size).toBe(2);
  for (const { own, answer } of connections) expect(answer).toBe(own);
});

test('keys are exported over HTTP/2, too', async () => {
  const socket = connect({
    host: '127.0.0.1',
    port: listening.port,
    ca: certificate.cert,
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  });
  await once(socket, 'secureConnect');
  const expected = ours(socket);
  const session = http2.connect('https://localhost', { createConnection: () => socket });
  expect(await text(session.request({ ':path': '/' }))).toBe(expected);
  session.close();
});

test('no key is exported over TLS 1.2, whose connections may share it (RFC 7627), or over clear text', async () => {
  expect(await ask('TLSv1.2')).toMatchObject({ version: 'TLSv1.2', answer: 'none' });
  expect(exporterOf({ socket: new Socket() })).toBeUndefined();
});
