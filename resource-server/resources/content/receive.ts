import type { FileHandle } from 'node:fs/promises';
import { contentTooLarge } from './content-errors.ts';
import type { Upload } from './uploads.ts';

export interface Receiving {
  /** Bytes that the client announced. */
  readonly announced: number | undefined;
  /** The longest content, in bytes, that stays in memory; -1 if none does. */
  readonly inMemory: number;
  /** The longest content, in bytes. */
  readonly maxBytes: number;
  readonly upload: Upload;
  /** Makes the file for content that does not stay in memory. */
  create(): Promise<FileHandle>;
  /** Runs work that uses the file. */
  writing<T>(work: () => Promise<T>): Promise<T>;
}

export interface WholeContent {
  readonly length: number;
  /** Undefined if the content is in the file and synced to disk. */
  readonly bytes?: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Receives a whole body, in memory as long as it is short. Throws `HttpError` 413 when it is too long. */
export async function receive(
  body: AsyncIterable<Buffer>,
  { announced, inMemory, maxBytes, upload, create, writing }: Receiving,
): Promise<WholeContent> {
  const room = announced !== undefined && announced > inMemory ? -1 : announced || inMemory;
  let length = 0;
  let bytes = NOTHING;
  let file: FileHandle | undefined;
  try {
    for await (const chunk of body) {
      const at = length;
      length += chunk.length;
      if (length > maxBytes) throw contentTooLarge(maxBytes);
      await upload.grow(chunk.length);
      if (length <= room) {
        if (at === 0) bytes = Buffer.allocUnsafe(room);
        bytes.set(chunk, at);
      } else {
        const to = (file ??= await createWith(bytes.subarray(0, at)));
        await writing(() => to.appendFile(chunk));
      }
    }
    if (length <= room) return { length, bytes: bytes.subarray(0, length) };
    const whole = (file ??= await writing(create));
    await writing(() => whole.sync());
    return { length };
  } finally {
    await file?.close();
  }

  async function createWith(first: Buffer): Promise<FileHandle> {
    const created = await writing(create);
    await writing(() => created.appendFile(first));
    return created;
  }
}
