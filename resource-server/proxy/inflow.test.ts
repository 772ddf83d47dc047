import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { ReadBuffers } from '../answers/read-buffers.ts';
import { Inflow } from './inflow.ts';
import { startTcp, stopAll, until } from './proxy.fixture.ts';

afterEach(stopAll);

const KIB = 1024;
const CONTENT = randomBytes(3_000_000);

/** A client that takes each piece after a while, during which its octets must not change. */
class SlowClient extends Writable {
  readonly taken: Buffer[] = [];
  readonly memory = new Set<ArrayBufferLike>();
  changed = 0;

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    const before = Buffer.from(piece);
    this.memory.add(piece.buffer);
    void (async () => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      if (!piece.equals(before)) this.changed += 1;
      this.taken.push(before);
      done();
    })();
  }
}

async function dial(serve: (socket: Socket) => void, buffers: ReadBuffers) {
  const { port } = await startTcp(serve);
  const inflow = new Inflow(buffers);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, onread: inflow.onread });
  socket.pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  return { inflow, socket };
}

test.each([256 * KIB, 64 * KIB])(
  'data of a destination arrives unchanged with a short and then a longer buffer (%d octets)',
  async (most) => {
    const buffers = new ReadBuffers();
    const { inflow, socket } = await dial((server) => server.end(CONTENT), buffers);
    const client = new SlowClient();
    inflow.start(socket, client, most);
    await once(client, 'finish');
    expect(client.changed).toBe(0);
    expect(Buffer.concat(client.taken).equals(CONTENT)).toBe(true);
    expect([...client.memory].map(({ byteLength }) => byteLength)).toEqual([16 * KIB, most]);
    socket.destroy();
    await until(() => buffers.large === 0);
  },
);

test('a destination is not read before the start, and its end ends the client', async () => {
  const { inflow, socket } = await dial((server) => server.end('early'), new ReadBuffers());
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(socket.bytesRead).toBe(0);
  const client = new SlowClient();
  inflow.start(socket, client, 64 * KIB);
  await once(client, 'finish');
  expect(client.taken.join('')).toBe('early');
  socket.destroy();
});

test('an aborted connection releases its buffer, which is never reused', async () => {
  const buffers = new ReadBuffers();
  const { inflow, socket } = await dial((server) => server.write(CONTENT), buffers);
  const client = new SlowClient();
  inflow.start(socket, client, 256 * KIB);
  await until(() => client.memory.size === 2);
  expect(buffers.large).toBe(1);
  client.destroy();
  socket.destroy();
  await until(() => buffers.large === 0);
  expect(client.memory).not.toContain(buffers.take(256 * KIB).buffer);
});
