import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import { randomId, type Random } from '#shared/random.ts';

/** Content that has reached the disk. */
export interface Received {
  readonly file: string;
  readonly length: number;
}

/** The content is longer than the limit. */
export class ContentTooLarge extends Error {
  override readonly name = 'ContentTooLarge';
}

export interface ContentOptions {
  /** Folder of this collection; made with mode 0700 when it is missing. */
  readonly folder: string;
  /** Longest content, in bytes. */
  readonly maxBytes: number;
  readonly random: Random;
}

/** The immutable files of a collection: each is written once under a random name, and never changed. */
export interface Content {
  /**
   * Writes the content durably, asks `commit` to name the file in the store, and resolves to its value.
   * What was not `kept` is removed; when `commit` throws, the change may have happened, and the sweep
   * decides. Content that ends early or is too long (`ContentTooLarge`) leaves no file.
   */
  add<T>(
    body: AsyncIterable<Buffer>,
    commit: (received: Received) => Promise<{ readonly kept: boolean; readonly value: T }>,
  ): Promise<T>;
  /** The whole of a short file. Undefined when there is no such file (any more). */
  read(file: string): Promise<Buffer | undefined>;
  /** Undefined when there is no such file (any more). */
  open(file: string): Promise<FileHandle | undefined>;
  /** Never fails: what cannot be removed now is left to the sweep. */
  remove(file: string): Promise<void>;
  /**
   * Removes the files left behind by a crash: those that nothing names, last written more than
   * `age` seconds ago. Files of this process's own uploads are kept at any age; `age` has to be
   * longer than an upload of another process may take. Resolves to the number removed.
   */
  sweep(named: () => Promise<ReadonlySet<string>>, clock: Clock, age: number): Promise<number>;
}

export async function openContent({ folder, maxBytes, random }: ContentOptions): Promise<Content> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const uploads = new Set<string>();

  async function remove(file: string): Promise<void> {
    await unlink(join(folder, file)).catch(() => {});
  }

  async function write(file: string, body: AsyncIterable<Buffer>): Promise<number> {
    const handle = await open(join(folder, file), 'wx', 0o600);
    let length = 0;
    try {
      for await (const chunk of body) {
        length += chunk.length;
        if (length > maxBytes) throw new ContentTooLarge();
        await handle.appendFile(chunk);
      }
      await handle.sync();
    } catch (error) {
      await remove(file);
      throw error;
    } finally {
      await handle.close();
    }
    return length;
  }

  return {
    async add(body, commit) {
      const file = randomId(random);
      const temporary = `${file}.part`;
      uploads.add(file).add(temporary);
      try {
        const length = await write(temporary, body);
        await rename(join(folder, temporary), join(folder, file));
        await syncFolder(folder);
        const { kept, value } = await commit({ file, length });
        if (!kept) await remove(file);
        return value;
      } finally {
        uploads.delete(temporary);
        uploads.delete(file);
      }
    },

    read: (file) => readFile(join(folder, file)).catch(ignoreMissing),

    open: (file) => open(join(folder, file)).catch(ignoreMissing),

    remove,

    async sweep(named, clock, age) {
      // First uploads, then files, then rows: what is committed meanwhile is in one of the lists.
      const busy = new Set(uploads);
      const files = await readdir(folder);
      const kept = await named();
      let removed = 0;
      for (const file of files) {
        if (kept.has(file) || busy.has(file)) continue;
        const found = await stat(join(folder, file)).catch(ignoreMissing);
        if (found === undefined || clock.now() - found.mtimeMs < age * 1000) continue;
        await remove(file);
        removed += 1;
      }
      return removed;
    },
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
