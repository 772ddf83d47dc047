import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Throws away content that nobody has read by the end of the answer, so that the connection can carry another request.
 * Calls `tooMuch` once if it is more than `most` bytes. If the connection ends before the content, it ends the
 * request, which node:http has forgotten since the answer.
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
  // Before node:http does: it would throw away what is not read without an end.
  response.prependOnceListener('finish', () => {
    if (request.complete) return;
    const { socket } = request;
    const end = () => request.destroy();
    socket.once('close', end);
    request.once('close', () => socket.off('close', end));
    request.on('data', discard);
    request.read(0); // now node:http leaves the content to us
  });
}
