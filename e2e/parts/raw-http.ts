import { connect } from 'node:net';

/**
 * Sends exactly these bytes to an origin, and resolves to all received text when the connection is closed.
 * Rejects if it is still open after `patience` milliseconds.
 */
export function rawHttp(
  origin: string,
  bytes: string | Buffer,
  patience = 60_000,
): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.setTimeout(patience, () => {
      socket.destroy(new Error(`not closed within ${patience} ms after: ${received}`));
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server closes a connection if it does not want to read the rest.
      if (['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(received);
      else reject(error);
    });
    socket.on('close', () => resolve(received));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

/** The status of the first answer; 0 if there is none. */
export function statusOf(received: string): number {
  return Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(received)?.[1] ?? 0);
}
