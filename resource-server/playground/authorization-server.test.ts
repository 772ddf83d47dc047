import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { wayToAuthorizationServer } from './authorization-server.ts';

test('the octets of a request and of its answer are those on the wire', async () => {
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
  const { received } = await wayToAuthorizationServer(port).send(() => request, '198.51.100.1');
  expect([await promise, received]).toEqual([request, answer]);
  server.close();
});
