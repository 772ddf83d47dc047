import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes of the header of a WAL, and of the header of each frame. */
const [HEADER, FRAME] = [32, 24];
/** The first number of a WAL; one more for checksums of big-endian words. */
const MAGIC = 0x377f0682;
/** Frames that are read at a time. */
const AT_ONCE = 64;

/** The content of a WAL (sqlite.org/fileformat2.html#the_write_ahead_log). */
export interface Wal {
  /** A new value each time that SQLite restarts the WAL. */
  readonly salt: string;
  /** Frames up to the last valid commit. SQLite drops all frames after a damaged one. */
  readonly good: number;
  /** Two transactions follow a damaged frame. Commits reach the disk in order, so acknowledged data is damaged. */
  readonly isBroken: boolean;
}

/** Reads a WAL, to which other processes may write. Undefined: missing, empty, or with a damaged header. */
export function readWal(path: string): Wal | undefined {
  let file: number;
  try {
    // SQLite takes no locks on this file, so closing it releases none.
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return walOf(file);
  } finally {
    closeSync(file);
  }
}

function walOf(file: number): Wal | undefined {
  const header = Buffer.alloc(HEADER);
  if (readSync(file, header, 0, HEADER, 0) < HEADER) return undefined;
  const magic = header.readUInt32BE(0);
  if ((magic & ~1) >>> 0 !== MAGIC) return undefined;
  const sum = new Checksum((magic & 1) === 1);
  sum.add(viewOf(header), 0, HEADER - 8);
  if (!sum.isAt(viewOf(header), HEADER - 8)) return undefined;
  const [salt1, salt2] = [header.readInt32BE(16), header.readInt32BE(20)];
  const length = FRAME + header.readUInt32BE(8);
  const slice = Buffer.allocUnsafe(length * AT_ONCE);
  const view = viewOf(slice);
  let good = 0;
  let number = 0;
  let isGood = true;
  let committedBehind = false;
  let isBroken = false;
  for (let at = HEADER, read = slice.length; read === slice.length; at += read) {
    read = readSync(file, slice, 0, slice.length, at);
    for (let frame = 0; frame + length <= read; frame += length) {
      number += 1;
      const isOfThis = view.getInt32(frame + 8) === salt1 && view.getInt32(frame + 12) === salt2;
      const isCommit = view.getInt32(frame + 4) !== 0;
      if (isGood) {
        sum.add(view, frame, frame + 8);
        sum.add(view, frame + FRAME, frame + length);
        isGood = isOfThis && sum.isAt(view, frame + 16);
      }
      if (isGood && isCommit) good = number;
      if (isGood || !isOfThis) continue;
      isBroken ||= committedBehind;
      committedBehind ||= isCommit;
    }
  }
  return { salt: header.toString('hex', 16, 24), good, isBroken };
}

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length);

/** The checksum of a WAL, over an even number of 32-bit words. */
class Checksum {
  readonly #isLittle: boolean;
  #first = 0;
  #second = 0;

  constructor(isBig: boolean) {
    this.#isLittle = !isBig;
  }

  add(view: DataView, from: number, to: number): void {
    const isLittle = this.#isLittle;
    let [first, second] = [this.#first, this.#second];
    for (let at = from; at < to; at += 8) {
      first = (first + view.getInt32(at, isLittle) + second) | 0;
      second = (second + view.getInt32(at + 4, isLittle) + first) | 0;
    }
    this.#first = first;
    this.#second = second;
  }

  isAt(view: DataView, at: number): boolean {
    return view.getInt32(at) === this.#first && view.getInt32(at + 4) === this.#second;
  }
}
