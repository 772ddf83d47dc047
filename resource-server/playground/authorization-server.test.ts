import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { AuthzLog, wayToAuthorizationServer } from './authorization-server.ts';

test('the octets of a request and of its answer are recorded as on the wire', async () => {
  const request = Buffer.from(
    'POST /token HTTP/1.1\r\nHost: as.example\r\n\r\na=%F0\x00\xff',
    'latin1',
  );
  const answer = Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\x00\xff', 'latin1');
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const server = createServer((socket) => {
    socket.on('data', (octets) => {
      resolve(octets);
      socket.write(answer.subarray(0, 20));
      setImmediate(() => socket.end(answer.subarray(20)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { received } = await wayToAuthorizationServer(port, new AuthzLog()).send(
    () => request,
    '198.51.100.1',
  );
  expect([await promise, received]).toEqual([request, answer]);
  server.close();
});

const lineOf = (id: string, more: object = {}) =>
  JSON.stringify({ level: 'info', event: 'request', id, error: 'invalid_grant', ...more });

test('the log line of a request is found whether it arrives before or after the question', async () => {
  const log = new AuthzLog();
  const asked = log.of('late');
  expect(['early', 'late'].map((id) => log.take(lineOf(id)))).toEqual([false, false]);
  const found = await Promise.all([log.of('early'), asked]);
  expect(found).toMatchObject([
    { id: 'early', error: 'invalid_grant' },
    { id: 'late', error: 'invalid_grant' },
  ]);
});

test('the operator sees warnings, errors and text that is not a log line', () => {
  const log = new AuthzLog();
  const lines = [
    lineOf('a', { level: 'error' }),
    lineOf('b', { level: 'warn' }),
    'Error: boom',
    '{',
    '',
  ];
  expect(lines.map((line) => log.take(line))).toEqual(lines.map(() => true));
});

test('waiting for a log line that never arrives ends', async () => {
  expect(await new AuthzLog().of('never')).toBeUndefined();
});
