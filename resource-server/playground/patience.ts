import type { Socket } from 'node:net';
import { notAnswered } from './http1-message.ts';

/** Milliseconds for one leg. */
const PATIENCE = 5000;
/** Bytes of the longest answer that is shown. */
const LONGEST = 65_536;

/**
 * Does the work of a leg on its connection, which ends with it. Rejects with `HttpError` 503 if that fails or takes too
 * long.
 */
export async function patiently<Result>(
  socket: Socket,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // An abort before the connection is there would otherwise end the process.
  socket.on('error', () => {});
  const signal = AbortSignal.timeout(PATIENCE);
  const abort = () => socket.destroy(new Error('the exchange takes too long'));
  signal.addEventListener('abort', abort);
  try {
    return await work(signal);
  } catch (error) {
    throw notAnswered(String(error));
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

/** Returns all that is read, piece by piece; `next` is called with what is there by then. Throws if it is too long. */
export async function readShown(
  pieces: AsyncIterable<Buffer>,
  next: (read: readonly Buffer[]) => void = () => {},
): Promise<Buffer> {
  const read: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    read.push(piece);
    length += piece.length;
    if (length > LONGEST) throw new Error('the answer is longer than the playground shows');
    next(read);
  }
  return Buffer.concat(read);
}
