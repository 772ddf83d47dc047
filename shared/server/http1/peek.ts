import type { Duplex } from 'node:stream';
import { setTimeout } from '#shared/base/safe-timers.ts';

/**
 * Waits for the first bytes of a connection, and gives them as soon as `enough` says so. If the connection ends or
 * `milliseconds` pass before, it gives the bytes that have come. The callback puts them back (`unshift`) in the same
 * turn, after it has added a listener: the connection goes on flowing.
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
