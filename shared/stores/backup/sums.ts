import { createHash } from 'node:crypto';
import { closeSync, existsSync, readdirSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { demandFolder, openRegular, readRegular } from './regular-file.ts';

/** The digests of a backup, in the format of `sha256sum`. Written last: without this file the backup is unfinished. */
export const SUMS = 'SHA256SUMS';

const LINE = /^([0-9a-f]{64}) {2}(state\.db|content(?:\/(?!\.{1,2}(?:\/|$))[^/]+){2})$/;
/** Octets of one read. */
const SLICE = 2 ** 20;

/** Writes the digest of each file of the backup, and waits for the disk. Returns the number of files. */
export function writeSums(folder: string): number {
  const files = filesOf(folder);
  const lines = files.map((file) => `${digestOf(join(folder, file))}  ${file}\n`);
  const partial = join(folder, `${SUMS}.partial`);
  writeFileSync(partial, lines.join(''), { mode: 0o600 });
  syncPath(partial);
  renameSync(partial, join(folder, SUMS));
  syncPath(folder);
  return files.length;
}

/** Returns the digest of each file; undefined if the file with digests is missing. Throws if a line is damaged. */
export function readSums(folder: string): ReadonlyMap<string, string> | undefined {
  const path = join(folder, SUMS);
  if (!existsSync(path)) return undefined;
  const lines = readRegular(path).split('\n').slice(0, -1);
  return new Map(
    lines.map((line, index) => {
      const [, digest = '', file = ''] = LINE.exec(line) ?? [];
      if (file === '') throw new Error(`${SUMS}: line ${index + 1} is damaged`);
      return [file, digest];
    }),
  );
}

/** Returns the files of a backup, with their folders. Throws `IrregularFile`. */
export function filesOf(folder: string): readonly string[] {
  const content = join(folder, 'content');
  const trees = existsSync(content) ? namesIn(content) : [];
  return [
    'state.db',
    ...trees.flatMap((tree) =>
      namesIn(join(content, tree)).map((file) => `content/${tree}/${file}`),
    ),
  ];
}

function namesIn(folder: string): readonly string[] {
  demandFolder(folder);
  return readdirSync(folder).toSorted();
}

/** Returns the SHA-256 of a file in hexadecimal. Throws `IrregularFile`. */
export function digestOf(path: string): string {
  const hash = createHash('sha256');
  const slice = Buffer.allocUnsafe(SLICE);
  const descriptor = openRegular(path);
  try {
    for (let read = SLICE; read > 0;) {
      read = readSync(descriptor, slice);
      hash.update(slice.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}
