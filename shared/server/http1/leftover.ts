import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * What nobody has read of the content by the end of the answer is thrown away, so that the connection
 * can carry another request; `tooMuch` is called once when it is more than `most` bytes. When the connection
 * ends before the content does, so does the request, of which node:http knows no more since it was answered.
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
