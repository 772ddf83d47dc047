import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { openSend } from './send.ts';

/** A server that accepts connections and says nothing, in no protocol. */
async function silent() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe('a server that accepts and stays silent', () => {
  test.each(['https', 'http'])(
    '%s: is not waited for',
    async (scheme) => {
      await using server = await silent();
      const url = `${scheme}://127.0.0.1:${server.port}/`;
      const sent = openSend({ milliseconds: 100 })({ method: 'GET', url, fields: {} });
      await expect(sent).rejects.toThrow(/timeout/i);
    },
    5000,
  );

  test('nor by those that wait for a connection behind others', async () => {
    await using server = await silent();
    const send = openSend({ milliseconds: 300 });
    const url = `https://127.0.0.1:${server.port}/`;
    const sent = Promise.allSettled(
      Array.from({ length: 60 }, () => send({ method: 'GET', url, fields: {} })),
    );
    // As many at a time as there may be, not one.
    while (server.sockets.length < 16) await new Promise((resolve) => setImmediate(resolve));
    for (const outcome of await sent) {
      // The time of the exchange, not of a connection that began later.
      expect(outcome).toMatchObject({ reason: { name: 'TimeoutError' } });
    }
  }, 5000);
});
