import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { makeFolder } from '#shared/base/make-folder.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import { type Pieces, piecesOf } from '../../answers/pieces.ts';
import type { Range } from '../../answers/range.ts';
import type { ContentDisk } from './content-disk.ts';
import { type ContentMemory, SHORT } from './content-memory.ts';
import { filePieces, readWhole } from './file-pieces.ts';
import type { FolderSync } from './folder-sync.ts';
import type { ReadBuffers } from '../../answers/read-buffers.ts';
import { receive, type WholeContent } from './receive.ts';
import { DamagedContent, diskFull } from './content-errors.ts';
import type { Received } from './resource-store.ts';
import type { Upload, Uploads } from './uploads.ts';

/** The content that the store itself keeps for this tree. */
export interface ContentRows {
  /** The longest content in bytes; -1 if the store keeps none. */
  readonly longest: number;
  /** Resolves to undefined if there is no content of this name. */
  read(name: string): Promise<Buffer | undefined>;
}

export interface ContentOptions {
  /** The folder of this tree, made with mode 0700 together with its first file. */
  readonly folder: string;
  /** The holder to whom uploads are attributed. */
  readonly holder: string;
  /** The longest content, in bytes. */
  readonly maxBytes: number;
  /** The files of all trees that this process is writing. The sweep keeps them, however old they are. */
  readonly uploads: Uploads;
  readonly rows: ContentRows;
  /** Content of all trees, by name, that `add` has received for the store to keep, until `commit` is done. */
  readonly received: Map<string, Buffer>;
  /** Recently read content of all trees, by the paths of the files. */
  readonly memory: ContentMemory;
  readonly buffers: ReadBuffers;
  /** The disk of all trees. */
  readonly files: ContentDisk;
  readonly sync: FolderSync;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** The immutable content of a tree: each is added once, under a name of its own, and never changes. */
export interface Content {
  /** Same as `receive` of `ResourceStore`. */
  add<T>(
    body: AsyncIterable<Buffer>,
    commit: (received: Received) => Promise<T>,
    announced?: number,
  ): Promise<T>;
  /**
   * Reads a document's content or a part of it, in pieces if it is long. Resolves to undefined if the row or file
   * does not exist (any more). Rejects with `DamagedContent` if it is not as long as the document.
   */
  read(document: Named, range?: Range): Promise<Buffer | Pieces | undefined>;
  /** Removes a file. Never fails: the sweep removes later what cannot be removed now. */
  remove(file: string): Promise<void>;
  /**
   * Removes the files that no row names and that were last written more than `age` seconds ago. `age` must exceed the
   * longest upload of another process. Resolves to the number of removed files.
   */
  sweep(named: () => Promise<ReadonlySet<string>>, clock: Clock, age: number): Promise<number>;
}

type Named = Pick<Document, 'file' | 'length'>;

/** Flags for reading. A symbolic link in the folder is not followed, and a pipe is not waited for. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function openContent(options: ContentOptions): Content {
  const { folder, holder, maxBytes, uploads, rows, received, memory, buffers, sync } = options;
  const { files, random } = options;
  const pathOf = (file: string) => `${folder}${sep}${file}`;

  /** Rejects if the folder's path is not a folder. Symbolic links are not followed. */
  async function checkFolder(): Promise<void> {
    if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
  }

  async function makeIfMissing(error: NodeJS.ErrnoException): Promise<void> {
    if (error.code !== 'ENOENT') throw error;
    await makeDurable(folder, sync);
    await checkFolder();
  }

  const openFile = ({ file, length }: Named) =>
    files
      .attempt('reading', async () => {
        await checkFolder();
        const handle = await open(pathOf(file), READING).catch(damagedIfLink);
        await checkLength(handle, length).catch(async (error: unknown) => {
          await handle.close();
          throw error;
        });
        return handle;
      })
      .catch(undefinedIfMissing);

  async function load(document: Named, range: Range): Promise<Buffer | undefined> {
    const { file, length } = document;
    const row = length <= rows.longest ? await rows.read(file) : undefined;
    if (row !== undefined) return row.subarray(range.first, range.last + 1);
    await using handle = await openFile(document);
    return handle && (await files.attempt('reading', () => readWhole(handle, range)));
  }

  async function remove(file: string): Promise<void> {
    memory.forget(pathOf(file));
    await checkFolder()
      .then(() => unlink(pathOf(file)))
      .catch(() => {});
  }

  /** Receives content into memory, or durably into a file with a temporary name until it is complete. */
  async function take(
    file: string,
    body: AsyncIterable<Buffer>,
    upload: Upload,
    announced: number | undefined,
  ): Promise<WholeContent> {
    const partial = `${file}.part`;
    const writing = <R>(work: () => Promise<R>) => files.attempt('writing', work);
    const create = async () => {
      await files.demandRoom(announced);
      await checkFolder().catch(makeIfMissing);
      return open(pathOf(partial), 'wx', 0o600);
    };
    try {
      const inMemory = rows.longest;
      const whole = await receive(body, { announced, inMemory, maxBytes, upload, create, writing });
      if (whole.bytes !== undefined) return whole;
      await writing(() => rename(pathOf(partial), pathOf(file)));
      await writing(() => sync(folder));
      return whole;
    } catch (error) {
      await Promise.all([remove(partial), remove(file)]);
      throw error;
    }
  }

  return {
    async add(body, commit, announced) {
      const file = newName(options.clock, random);
      const upload = await uploads.begin(holder, file, announced);
      try {
        const { length, bytes } = await take(file, body, upload, announced);
        if (bytes !== undefined) received.set(file, bytes);
        return await commit({ file, length }).catch(async (error: unknown) => {
          const unavailable = error instanceof StoreUnavailable;
          if (bytes !== undefined) throw unavailable && error.full ? diskFull() : error;
          // A store that gave no answer may still have committed, so the file stays.
          if (!unavailable || error.refused) await remove(file);
          throw error;
        });
      } finally {
        received.delete(file);
        upload.end();
      }
    },

    async read(document, range) {
      const { file, length } = document;
      const path = pathOf(file);
      const all = { first: 0, last: length - 1 };
      const { first, last } = range ?? all;
      const held = memory.hold(path, length, () => load(document, all));
      if (held === undefined) {
        if (length <= SHORT) return load(document, { first, last });
        const handle = await openFile(document);
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
      // Uploads are listed first, then files, then rows. So any content that is committed meanwhile is in one of the
      // lists.
      const busy = new Set(uploads.files);
      const present = await readdir(folder);
      const kept = await named();
      let removed = 0;
      for (const name of present) {
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

/**
 * Makes a unique name that sorts by time. A new row is then near the row that it replaces, so a commit writes a fifth
 * fewer pages than with random names.
 */
function newName(clock: Pick<Clock, 'now'>, random: Random): string {
  return `${Math.floor(clock.now()).toString(36).padStart(9, '0')}-${randomId(random)}`;
}

/** Makes the folder and its missing parents, and makes their names durable. */
async function makeDurable(folder: string, sync: FolderSync): Promise<void> {
  const first = makeFolder(folder);
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) {
    await sync(dirname(made));
  }
}

/** Rejects with `DamagedContent` if the length differs. */
async function checkLength(handle: FileHandle, length: number): Promise<void> {
  const found = await handle.stat();
  if (!found.isFile()) throw new DamagedContent('it is no regular file');
  if (found.size !== length) throw new DamagedContent(`it has ${found.size} bytes, not ${length}`);
}

function damagedIfLink(error: NodeJS.ErrnoException): never {
  throw error.code === 'ELOOP' ? new DamagedContent('it is no regular file') : error;
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
