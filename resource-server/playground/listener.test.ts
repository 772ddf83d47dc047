import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { HttpError } from '#shared/http/answer.ts';
import { listen } from '#shared/server/listen/listen.ts';
import type { AnyHandler } from '#shared/server/message/message.ts';
import { openLoopback } from './listener.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
const answering: AnyHandler = (request, response) => {
  response.end(request.socket.remoteAddress ?? '');
};

/** A listener that cannot open the first `failures` times. */
function failing(failures: number): typeof listen {
  let left = failures;
  return async (options) => {
    if (left === 0) return listen(options);
    left -= 1;
    throw Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' });
  };
}

test('a listener that cannot open is 503, with the reason for the log, and the next request opens it', async () => {
  await using loopback = openLoopback(answering, silentLog, { open: failing(1) });
  const refused: unknown = await loopback.send(() => REQUEST, '192.0.2.1').catch((error) => error);
  expect(refused).toBeInstanceOf(HttpError);
  expect(refused).toMatchObject({ status: 503, reason: expect.stringContaining('EMFILE') });
  expect(String(await loopback.send(() => REQUEST, '192.0.2.1'))).toMatch(/192\.0\.2\.1$/);
});

test('one that never opened ends like any other', async () => {
  const loopback = openLoopback(answering, silentLog, { open: failing(1) });
  await expect(loopback.send(() => REQUEST, '192.0.2.1')).rejects.toThrow('cannot be reached');
  await expect(loopback[Symbol.asyncDispose]()).resolves.toBeUndefined();
});
