import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Content } from './cache-store.ts';
import type { FileReading } from './open-files.ts';

/** Octets that are read at once. */
const AT_ONCE = 128 * 1024;
const CHECKED_AT_ONCE = 256 * 1024;

/** Reads at most `octets` of a file. Returns none at its end. */
export async function readSome(
  file: FileHandle,
  position: number,
  octets: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(octets);
  const { bytesRead } = await file.read(buffer, 0, octets, position);
  return buffer.subarray(0, bytesRead);
}

/** Whether a file has this length and checksum. If reading fails, the reading is ended. */
export async function isWhole(
  { file, end }: FileReading,
  length: number,
  crc: number | undefined,
): Promise<boolean> {
  try {
    if ((await file.stat()).size !== length) return false;
    let found = 0;
    for (let at = 0; at < length;) {
      const piece = await readSome(file, at, Math.min(CHECKED_AT_ONCE, length - at));
      if (piece.length === 0) return false;
      found = crc32(piece, found);
      at += piece.length;
    }
    return found === crc;
  } catch (error) {
    end();
    throw error;
  }
}

/**
 * Returns the content of a complete file. `closed`: called after its last reader. Rejects if the file cannot be read.
 */
export async function contentIn(
  reading: FileReading,
  length: number,
  closed: () => void,
): Promise<Content> {
  if (length > AT_ONCE) return inFile(reading, length, closed);
  try {
    const whole = await readSome(reading.file, 0, length);
    if (whole.length === length) return inMemory(whole, closed);
    throw new Error(`content ends before its ${length} octets`);
  } finally {
    reading.end();
  }
}

const once = (work: () => void) => {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
};

export const inMemory = (whole: Buffer, closed: () => void): Content => ({
  whole,
  read: (position, most) => whole.subarray(position, position + most),
  close: once(closed),
});

const inFile = ({ file, end }: FileReading, length: number, closed: () => void): Content => ({
  async read(position, most) {
    const octets = Math.min(most, length - position);
    if (octets <= 0) return Buffer.alloc(0);
    const piece = await readSome(file, position, octets);
    if (piece.length === 0) throw new Error(`content ends before its ${length} octets`);
    return piece;
  },
  close: once(() => {
    end();
    closed();
  }),
});
