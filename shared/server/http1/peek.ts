import type { Duplex } from 'node:stream';
import { setTimeout } from '#shared/base/safe-timers.ts';

/**
 * Waits for the first octets of a connection, and passes them on as soon as `enough` returns true. If the connection
 * ends or `milliseconds` pass before, it passes on the octets that have arrived. The callback puts them back
 * (`unshift`) in the same turn, after it has added a listener, since the connection keeps flowing.
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
