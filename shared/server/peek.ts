import type { Duplex } from 'node:stream';

/**
 * Waits for the first bytes of a connection, and resolves to them as soon as `enough` says so; then they are there
 * still to be read. When the connection ends or `milliseconds` pass before, it resolves to what has come.
 */
export function peek(
  socket: Duplex,
  enough: (bytes: Buffer) => boolean,
  milliseconds: number,
): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  let bytes = Buffer.alloc(0);
  const timer = setTimeout(finish, milliseconds);
  socket.on('readable', look).on('end', finish).on('close', finish);

  function look(): void {
    for (let piece: unknown; (piece = socket.read()) instanceof Buffer;) {
      bytes = Buffer.concat([bytes, piece]);
    }
    if (bytes.length === 0 || !enough(bytes)) return;
    finish();
    socket.unshift(bytes);
  }
  function finish(): void {
    clearTimeout(timer);
    socket.off('readable', look).off('end', finish).off('close', finish);
    resolve(bytes);
  }
  return promise;
}
