import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { relay } from './relay.ts';

/** Makes both ends of a connection. */
async function pair(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const near = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  for (const socket of [near, far]) socket.on('error', () => {});
  return [near, far];
}

test.each(['client', 'destination'])(
  'a side that does not end after the %s gets less time than a silent side',
  async (first) => {
    const [client, there] = await pair();
    const [destination, application] = await pair();
    const flow = { start: (from: Socket, to: NodeJS.WritableStream) => void from.pipe(to) };
    const ended = relay(there, destination, flow, { idle: 3600, half: 0.02, total: 7200 });
    (first === 'client' ? client : application).end();
    expect(await ended).toBe('half');
    client.destroy();
    application.destroy();
  },
);
