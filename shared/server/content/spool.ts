import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { normalAddress, siteOf } from '#shared/http/forwarded.ts';
import type { AnyRequest } from '../message/message.ts';
import { createTally, type Share } from '../limits/tally.ts';

/** The most octets of content in memory; earlier octets are in the file. */
const MEMORY = 1024 * 1024;
/** The first size of the buffer, larger than most messages. */
const FIRST = 16_384;
/** How many octets one read gets from the file. */
const PIECE = 65_536;

/**
 * The octets that all spools of a server may hold; otherwise a client with endless content could fill the disk. The
 * content of one address may have half of the octets that other addresses do not use, so that no client can block all
 * other clients.
 */
export class Budget {
  readonly #bytes: number;
  readonly #tally = createTally('spools');

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Reserves octets. Rejects with `HttpError` 503 if fewer octets are left. */
  async take(bytes: number, address: string): Promise<void> {
    if (!(await this.#tally.take(this.#shares(bytes, address)))) throw tooMuchAtOnce();
  }

  giveBack(bytes: number, address: string): void {
    if (bytes > 0) this.#tally.give(this.#shares(bytes, address));
  }

  #shares(amount: number, address: string): readonly Share[] {
    const all = { of: '', most: this.#bytes };
    return [
      { ...all, amount },
      { of: address, amount, most: this.#bytes / 2, within: all },
    ];
  }
}

/** Returns the error for a full budget (RFC 9110 section 15.6.4). */
export function tooMuchAtOnce(): HttpError {
  return new HttpError(503, 'Too much content is being received. Try again.', {
    'Retry-After': '5',
  });
}

/**
 * Content of a request that can be read more than once, until the request is answered or its connection is closed.
 * Content over 1 MiB goes to a temporary file, whose name is removed right after opening. So no file is left behind,
 * even if the process is killed.
 */
export class Spool {
  readonly #budget: Budget;
  readonly #address: string;
  #taken = 0;
  #closed = false;
  #memory: Buffer | undefined;
  #used = 0;
  #file: FileHandle | undefined;
  #written = 0;

  /** `address`: as `clientAddress` gives it, so that clients behind one proxy have separate limits. */
  constructor(request: AnyRequest, budget: Budget, address: string) {
    this.#budget = budget;
    this.#address = siteOf(address);
    whenOver(request, () => this.close());
  }

  /** Throws `HttpError` 503 if the budget or the disk is full. */
  async add(chunk: Buffer): Promise<void> {
    let memory = this.#memory ?? (await this.#grow(Buffer.alloc(0), FIRST));
    for (let at = 0; at < chunk.length;) {
      if (this.#used === FIRST && memory.length === FIRST)
        memory = await this.#grow(memory, MEMORY);
      if (this.#used === MEMORY) await this.#flush(memory);
      const copied = chunk.copy(memory, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  async *read(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.#written;) {
      // Each piece has its own memory, so that the caller may keep the piece.
      const piece = Buffer.allocUnsafe(Math.min(PIECE, this.#written - at));
      const bytesRead = await this.#readFile(piece, at);
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
    if (this.#memory !== undefined) yield this.#memory.subarray(0, this.#used);
  }

  /** Closes the file. The method may be called several times. */
  close(): void {
    this.#closed = true;
    this.#budget.giveBack(this.#taken, this.#address);
    this.#taken = 0;
    // The file has no name, so an error of closing it has no consequences.
    void this.#file?.close().catch(() => {});
  }

  async #readFile(piece: Buffer, at: number): Promise<number> {
    const { bytesRead } = await stillOpen(this.#file).read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('a spool is shorter than what was written to it');
    return bytesRead;
  }

  async #grow(before: Buffer, bytes: number): Promise<Buffer> {
    await this.#take(bytes - before.length);
    const memory = Buffer.allocUnsafe(bytes);
    before.copy(memory);
    this.#memory = memory;
    return memory;
  }

  async #take(bytes: number): Promise<void> {
    if (!this.#closed) {
      await this.#budget.take(bytes, this.#address);
      this.#taken += bytes;
    }
    if (!this.#closed) return;
    this.close(); // the client disconnected while the budget was asked
    throw new BadRequest('The client has left.');
  }

  async #flush(memory: Buffer): Promise<void> {
    await this.#take(MEMORY);
    try {
      this.#file ??= await openNameless();
      if (this.#closed) this.close(); // the client disconnected while the file was opened
      await stillOpen(this.#file).appendFile(memory);
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? tooMuchAtOnce() : error;
    }
    this.#written += MEMORY;
    this.#used = 0;
  }
}

/** Returns the address of the other end of the connection. */
export function addressOf({ socket: { remoteAddress = '-' } }: AnyRequest): string {
  return normalAddress(remoteAddress) ?? remoteAddress;
}

function stillOpen(file: FileHandle | undefined): FileHandle {
  if (file === undefined || file.fd === -1) throw new BadRequest('The client has left.');
  return file;
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'));
  try {
    return await open(join(folder, 'content'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const FINISHED = 'http.server.response.finish';

/** Calls back once the request is answered or its connection (over HTTP/2 its stream) is closed. */
function whenOver(request: AnyRequest, callback: () => void): void {
  const { socket } = request;
  const over = () => {
    unsubscribe(FINISHED, onFinished);
    socket.off('close', over);
    callback();
  };
  const onFinished = (message: unknown) => {
    if (isAbout(request, message)) over();
  };
  subscribe(FINISHED, onFinished);
  socket.once('close', over);
  if (socket.destroyed) over();
}

const isAbout = (request: AnyRequest, message: unknown) =>
  typeof message === 'object' &&
  message !== null &&
  'request' in message &&
  message.request === request;
