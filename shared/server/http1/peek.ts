import type { Duplex } from 'node:stream';
import { setTimeout } from '#shared/base/safe-timers.ts';

/**
 * Waits for the first octets of a connection until `enough` returns true for them, and passes them on. If the
 * connection ends or `milliseconds` pass first, it passes on the octets so far. In the same turn the callback must
 * add a listener and put the octets back (`unshift`), since the connection keeps flowing.
 */
export function peek(
  socket: Duplex,
  enough: (bytes: Buffer) => boolean,
  milliseconds: number,
  take: (bytes: Buffer) => void,
): void {
  let bytes: Buffer | undefined;
  const timer = setTimeout(finish, milliseconds);
  socket.on('data', look).on('end', finish).on('close', finish);

  function look(piece: Buffer): void {
    bytes = bytes === undefined ? piece : Buffer.concat([bytes, piece]);
    if (enough(bytes)) finish();
  }
  function finish(): void {
    clearTimeout(timer);
    socket.off('data', look).off('end', finish).off('close', finish);
    take(bytes ?? Buffer.alloc(0));
  }
}
