import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Discards content that the handler has not read by the end of the answer, so that the connection can carry another
 * request. Calls `tooMuch` once if the content has more than `most` octets. If the connection ends before the
 * content, the function ends the request, since node:http no longer does so after the answer.
 */
export function discardLeftover(
  request: IncomingMessage,
  response: ServerResponse,
  most: number,
  tooMuch: () => void,
): void {
  let left = most;
  function discard(piece: Buffer): void {
    left -= piece.length;
    if (left >= 0) return;
    request.off('data', discard).resume();
    tooMuch();
  }
  // This listener runs before the one of node:http, which would discard unread content without a limit.
  response.prependOnceListener('finish', () => {
    if (request.complete) return;
    const { socket } = request;
    const end = () => request.destroy();
    socket.once('close', end);
    request.once('close', () => socket.off('close', end));
    request.on('data', discard);
    request.read(0); // from now on node:http does not discard the content
  });
}
