import type { FileHandle } from 'node:fs/promises';
import type { Pieces } from '../../answers/pieces.ts';
import { lengthOf, type Range } from '../../answers/range.ts';
import type { ReadBuffers } from '../../answers/read-buffers.ts';
import { DamagedContent } from './content-errors.ts';

/**
 * Reads a part of an open file in pieces, and closes the file at the end. While one buffer is being sent, the next
 * piece is read into another. Throws if the file is shorter than its row says.
 */
export function filePieces(handle: FileHandle, range: Range, buffers: ReadBuffers): Pieces {
  return {
    async *each(most) {
      let at = range.first;
      const taken: Buffer[] = [];
      let reading: Promise<Buffer> | undefined;
      /** Begins to read into the free buffer. Returns undefined when everything has been read. */
      const begin = (turn: number) => {
        const left = range.last + 1 - at;
        if (left === 0) return undefined;
        const buffer = (taken[turn % 2] ??= buffers.take(Math.min(left, most)));
        reading = readSome(handle, buffer, at, Math.min(left, most));
        reading.catch(() => {}); // the error is handled where the read is awaited
        return reading;
      };
      let sent = false;
      try {
        let next = begin(0);
        for (let turn = 1; next !== undefined; turn += 1) {
          const piece = await next;
          at += piece.length;
          next = begin(turn);
          yield piece;
        }
        sent = true;
      } finally {
        await reading?.catch(() => {});
        for (const buffer of taken) buffers.give(buffer, sent);
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Reads a part of a file at once. Rejects if the file ends too early. */
export async function readWhole(handle: FileHandle, range: Range): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(lengthOf(range));
  for (let done = 0; done < whole.length;) {
    const rest = whole.subarray(done);
    done += (await readSome(handle, rest, range.first + done, rest.length)).length;
  }
  return whole;
}

async function readSome(handle: FileHandle, into: Buffer, at: number, most: number) {
  const { bytesRead } = await handle.read(into, 0, Math.min(into.length, most), at);
  if (bytesRead === 0) throw new DamagedContent(`it has no more than ${at} bytes`);
  return into.subarray(0, bytesRead);
}
