import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import type { Document } from '#shared/stores/trees.ts';
import { davError } from '../webdav/dav-error.ts';
import { type Pieces, piecesOf } from '../pieces.ts';
import type { Range } from '../representation/range.ts';
import { type ContentMemory, SHORT } from './content-memory.ts';
import { filePieces, readWhole } from './file-pieces.ts';
import type { FolderSync } from './folder-sync.ts';
import type { ReadBuffers } from '../../read-buffers.ts';
import type { Received } from './resource-store.ts';
import type { Upload, Uploads } from './uploads.ts';

export interface ContentOptions {
  /** Folder of this tree; made with mode 0700 when something is first written. */
  readonly folder: string;
  /** Whose uploads these are. */
  readonly principal: string;
  /** Longest content, in bytes. */
  readonly maxBytes: number;
  /** Files that this process is writing, of all trees; they are kept at any age. */
  readonly uploads: Uploads;
  /** What was read lately, of all trees, by the paths of the files. */
  readonly memory: ContentMemory;
  readonly buffers: ReadBuffers;
  readonly sync: FolderSync;
  readonly random: Random;
}

/** The immutable files of a tree: each is written once under a random name, and never changed. */
export interface Content {
  /** As `receive` of `ResourceStore`. */
  add<T>(
    body: AsyncIterable<Buffer>,
    commit: (received: Received) => Promise<T>,
    announced?: number,
  ): Promise<T>;
  /**
   * A document's content, or a part of it, in pieces if the document is long. Undefined when there is no such
   * file (any more). Rejects, or reading the pieces does, when the file is shorter than that.
   */
  read(
    document: Pick<Document, 'file' | 'length'>,
    range?: Range,
  ): Promise<Buffer | Pieces | undefined>;
  /** Never fails: what cannot be removed now is left to the sweep. */
  remove(file: string): Promise<void>;
  /**
   * Removes the files that nothing names, last written more than `age` seconds ago, which has to be
   * longer than an upload of another process may take. Resolves to the number removed.
   */
  sweep(named: () => Promise<ReadonlySet<string>>, clock: Clock, age: number): Promise<number>;
}

/** A link in the folder leads nowhere. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW;
/** The disk is full, or this user's part of it. */
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

export function openContent(options: ContentOptions): Content {
  const { folder, principal, maxBytes, uploads, memory, buffers, sync, random } = options;
  const pathOf = (file: string) => join(folder, file);

  /** Rejects when something else is in the folder's place: a link to another one is not followed. */
  async function checkFolder(): Promise<void> {
    if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
  }

  async function makeIfMissing(error: NodeJS.ErrnoException): Promise<void> {
    if (error.code !== 'ENOENT') throw error;
    await makeFolder(folder, sync);
    await checkFolder();
  }

  const openFile = (path: string) =>
    checkFolder()
      .then(() => open(path, READING))
      .catch(undefinedIfMissing);

  async function load(path: string, range: Range): Promise<Buffer | undefined> {
    await using handle = await openFile(path);
    return handle && (await readWhole(handle, range));
  }

  async function remove(file: string): Promise<void> {
    memory.forget(pathOf(file));
    await checkFolder()
      .then(() => unlink(pathOf(file)))
      .catch(() => {});
  }

  /** Durably, under a name of its own until it is whole. */
  async function write(file: string, body: AsyncIterable<Buffer>, upload: Upload): Promise<number> {
    const partial = `${file}.part`;
    try {
      await checkFolder().catch(makeIfMissing);
      const length = await fill(pathOf(partial), body, maxBytes, upload);
      await rename(pathOf(partial), pathOf(file));
      await sync(folder);
      return length;
    } catch (error) {
      await Promise.all([remove(partial), remove(file)]);
      throw isFull(error) ? diskFull() : error;
    }
  }

  return {
    async add(body, commit, announced) {
      const file = randomId(random);
      const upload = await uploads.begin(principal, file, announced);
      try {
        const length = await write(file, body, upload);
        return await commit({ file, length }).catch(async (error: unknown) => {
          // A store that gave no answer may have done it.
          if (!(error instanceof StoreUnavailable) || error.refused) await remove(file);
          throw error;
        });
      } finally {
        upload.end();
      }
    },

    async read({ file, length }, range) {
      const path = pathOf(file);
      const all = { first: 0, last: length - 1 };
      const { first, last } = range ?? all;
      const held = memory.hold(path, length, () => load(path, all));
      if (held === undefined) {
        if (length <= SHORT) return load(path, { first, last });
        const handle = await openFile(path);
        return handle && filePieces(handle, { first, last }, buffers);
      }
      let pieces: Pieces | undefined;
      try {
        const part = (await held.content)?.subarray(first, last + 1);
        if (part === undefined || length <= SHORT) return part;
        pieces = piecesOf(part, held.release);
        return pieces;
      } finally {
        if (pieces === undefined) held.release();
      }
    },

    remove,

    async sweep(named, clock, age) {
      // First uploads, then files, then rows: what is committed meanwhile is in one of the lists.
      const busy = new Set(uploads.files);
      const files = await readdir(folder);
      const kept = await named();
      let removed = 0;
      for (const name of files) {
        if (kept.has(name) || busy.has(name.replace(/\.part$/, ''))) continue;
        const found = await lstat(pathOf(name)).catch(undefinedIfMissing);
        if (found === undefined || found.isDirectory()) continue;
        if (clock.now() - found.mtimeMs < age * 1000) continue;
        await remove(name);
        removed += 1;
      }
      return removed;
    },
  };
}

/** Writes a file to the disk itself; resolves to its length. Throws `HttpError` 413 once it is too long. */
async function fill(
  path: string,
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  upload: Upload,
): Promise<number> {
  const handle = await open(path, 'wx', 0o600);
  try {
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxBytes) throw contentTooLarge(maxBytes);
      await upload.grow(chunk.length);
      await handle.appendFile(chunk);
    }
    await handle.sync();
    return length;
  } finally {
    await handle.close();
  }
}

/** RFC 9110 section 15.5.14. */
export function contentTooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `A document has at most ${maxBytes} bytes.`);
}

/** RFC 4331 section 6. */
export function quotaExceeded(): HttpError {
  return davError(507, 'quota-not-exceeded', 'The quota of this tree leaves no room for it.');
}

/** RFC 4331 section 6. */
function diskFull(): HttpError {
  return davError(507, 'sufficient-disk-space', 'The disk of the server is full.');
}

/** Makes the folder and those above it that are missing, and their names durable. */
async function makeFolder(folder: string, sync: FolderSync): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    await sync(dirname(made));
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && FULL.has(String(error.code));
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
