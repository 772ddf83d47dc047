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

/** Takes each piece after a while, in which its octets have to stay as they are. */
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
  'data of a destination arrives unchanged, by one buffer and a longer one (%d octets)',
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

test('reads nothing before it is started, and the end of the data ends the client', async () => {
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
