import type { Socket } from 'node:net';
import { notAnswered } from './http1-message.ts';

/** Milliseconds for one leg. */
const PATIENCE = 5000;
/** Bytes of the longest answer that is shown. */
const LONGEST = 65_536;

/**
 * Performs a leg on its connection, which is closed afterwards. Rejects with `HttpError` 503 if the leg fails or takes
 * too long.
 */
export async function patiently<Result>(
  socket: Socket,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // An abort before the connection opens would otherwise end the process.
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

/** Returns all octets, read piece by piece. `next`: called with the octets so far. Throws if they are too many. */
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
