import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Heard {
  readonly status: number;
  /** Fields with their values and content, as received but for what is random or the time. */
  readonly rest: readonly string[];
}

/** Parameters that differ each time. */
export const RANDOM = /(nonce|opaque|sid|sr)=(?:"[^"]*"|[^,"]*)/g;
/** Names of fields that tell the time, or of this request alone. */
export const MOMENTARY = /^(?:date|x-request-id|ratelimit)$/i;

/** Behind each request, to see whether the connection lives on, and to end it. */
const LAST = Buffer.from(
  'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
);

/** Sends the pieces of a request one by one, and returns the answer until the server closed the connection. */
export async function overHttp1(url: string, ...pieces: readonly Buffer[]): Promise<Heard> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('error', () => {}); // a reset is an end
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
  // In one write: a server that refuses the request and ends the connection may do so before a second one.
  socket.write(Buffer.concat([...pieces.slice(-1), LAST]));
  await closed;
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(received)?.[1] ?? 0);
  const lines = received.replaceAll(RANDOM, '$1').split('\r\n');
  return { status, rest: lines.filter((line) => !MOMENTARY.test(line.split(':', 1)[0] ?? '')) };
}
