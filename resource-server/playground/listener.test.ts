import { once } from 'node:events';
import { connect } from 'node:http2';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import type { AnyHandler } from '#shared/server/message/message.ts';
import { writeRequestList } from './http2-message.ts';
import { openLoopback } from './listener.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
const answering: AnyHandler = (request, response) => {
  response.end(request.socket.remoteAddress ?? '');
};

/** A listener that fails to open the first `failures` times. */
function failing(failures: number): typeof listen {
  let left = failures;
  return async (options) => {
    if (left === 0) return listen(options);
    left -= 1;
    throw Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' });
  };
}

test('a listener that cannot open is 503 with the reason in the log, and opens at the next request', async () => {
  await using loopback = openLoopback(answering, silentLog, { open: failing(1) });
  const refused: unknown = await loopback.send(() => REQUEST, '192.0.2.1').catch((error) => error);
  expect(refused).toBeInstanceOf(HttpError);
  expect(refused).toMatchObject({ status: 503, reason: expect.stringContaining('EMFILE') });
  expect(String((await loopback.send(() => REQUEST, '192.0.2.1')).received)).toMatch(
    /192\.0\.2\.1$/,
  );
});

test('closing a listener that never opened succeeds', async () => {
  const loopback = openLoopback(answering, silentLog, { open: failing(1) });
  await expect(loopback.send(() => REQUEST, '192.0.2.1')).rejects.toThrow('cannot be reached');
  await expect(loopback[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

const LIST = writeRequestList('localhost', { method: 'GET', target: '/', fields: [] });
const CERTIFICATE = selfSigned(['localhost'], new ManualClock(), systemRandom);
const TLS = { certificate: CERTIFICATE, host: 'localhost' };

test("over HTTP/2 a connection has the visitor's address, and the record has the sent and received octets", async () => {
  await using loopback = openLoopback(answering, silentLog, { tls: TLS });
  const { sent, received, promised } = await loopback.stream(() => LIST, '192.0.2.1');
  expect(sent).toEqual(LIST);
  expect(String(received)).toMatch(/^:status: 200\r\ndate: [^\r]+\r\n\r\n192\.0\.2\.1$/);
  expect(promised).toEqual([]);
});

test('another program of the machine gets no answer over HTTP/2', async () => {
  let port = 0;
  let served = 0;
  const counting: AnyHandler = (request, response) => {
    served += 1;
    port = request.socket.localPort ?? 0;
    response.end('hello');
  };
  await using loopback = openLoopback(counting, silentLog, { tls: TLS });
  await loopback.stream(() => LIST, '192.0.2.1');
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => {});
  const stream = session.request();
  stream.on('error', () => {});
  await once(stream, 'close');
  expect([stream.sentHeaders[':path'], served]).toEqual(['/', 1]);
});

test('a stream without an answer is 503', async () => {
  const resetting: AnyHandler = (_request, response) => {
    if ('stream' in response) response.stream.destroy(new Error('no answer'));
  };
  await using loopback = openLoopback(resetting, silentLog, { tls: TLS });
  await expect(loopback.stream(() => LIST, '192.0.2.1')).rejects.toThrow('was not answered');
});
