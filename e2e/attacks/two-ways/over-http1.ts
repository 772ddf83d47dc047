import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Heard {
  readonly status: number;
  /** Fields and content as received, without random values and times. */
  readonly rest: readonly string[];
}

/** Parameters whose values are random. */
export const RANDOM = /(nonce|opaque|sid|sr)=(?:"[^"]*"|[^,"]*)/g;
/** Names of fields that differ for each request or moment. */
export const MOMENTARY = /^(?:date|x-request-id|ratelimit)$/i;

/**
 * Sent behind each request: its answer shows whether the connection is still open, and then the server
 * closes it.
 */
const LAST = Buffer.from(
  'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
);

/** Sends the pieces one by one, and returns the answer until the server closes the connection. */
export async function overHttp1(url: string, ...pieces: readonly Buffer[]): Promise<Heard> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('error', () => {}); // a reset ends the exchange, too
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
  });
  await once(socket, 'connect');
  for (const piece of pieces.slice(0, -1)) {
    socket.write(piece);
    await sleep(2);
  }
  // One write, because a server that refuses the request may close the connection before a second write.
  socket.write(Buffer.concat([...pieces.slice(-1), LAST]));
  await closed;
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(received)?.[1] ?? 0);
  const lines = received.replaceAll(RANDOM, '$1').split('\r\n');
  return { status, rest: lines.filter((line) => !MOMENTARY.test(line.split(':', 1)[0] ?? '')) };
}
