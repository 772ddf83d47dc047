import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { start } from './wire.fixture.ts';

/** The state in Linux (proc(5)) of a connection whose first packet was not answered. */
const SYN_SENT = '02';

function unanswered(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , to, state]) => to?.endsWith(remote) && state === SYN_SENT).length;
}

test('a thousand connections between two turns of the event loop wait in the kernel, and none is dropped', async () => {
  const { port } = await start();
  const sockets = Array.from({ length: 1000 }, () => connect(port, '127.0.0.1'));
  await new Promise(process.nextTick); // then all sockets have called connect(2), and the loop has not turned
  expect(unanswered(port)).toBe(0);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.destroy();
});
