import type { Duplex } from 'node:stream';

/**
 * Waits for the first bytes of a connection and leaves them there to be read. Resolves to them as soon
 * as `enough` says so, to undefined when the connection ends or `milliseconds` pass before.
 */
export function peek(
  socket: Duplex,
  enough: (bytes: Buffer) => boolean,
  milliseconds: number,
): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  let bytes = Buffer.alloc(0);
  const timer = setTimeout(giveUp, milliseconds);
  socket.on('readable', look).on('end', giveUp).on('close', giveUp);

  function look(): void {
    for (let piece: unknown; (piece = socket.read()) instanceof Buffer;) {
      bytes = Buffer.concat([bytes, piece]);
    }
    if (bytes.length === 0 || !enough(bytes)) return;
    finish(bytes);
    socket.unshift(bytes);
  }
  function giveUp(): void {
    finish(undefined);
  }
  function finish(result: Buffer | undefined): void {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('close', giveUp);
    resolve(result);
  }
  return promise;
}
