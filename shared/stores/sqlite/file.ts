import { StoreUnavailable } from '../stores.ts';
import { Connection } from './connection.ts';
import { Reserve } from './reserve.ts';
import type { Schema } from './schema.ts';

/** SQLITE_FULL, and the errors of the WAL's index and of any write (SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE). */
const FULL: ReadonlySet<unknown> = new Set([13, 4874, 778]);

/** Whatever goes wrong inside is `StoreUnavailable` outside: a full disk never looks like a "no". */
export function orUnavailable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause;
    throw new StoreUnavailable(`${path}: ${String(cause)}`, { cause, refused: isFull(cause) });
  }
}

/**
 * A file of the embedded store. Follows its path: when another file was moved there (a backup was
 * restored), the next verb works on that one, not on the ghost of the old.
 */
export class SqliteFile implements Disposable {
  readonly path: string;
  readonly schema: Schema;
  readonly #reserve: Reserve;
  #connection: Connection | undefined;
  #closed = false;

  /** Creates the file when it is missing. */
  constructor(path: string, schema: Schema) {
    this.path = path;
    this.schema = schema;
    this.#connection = orUnavailable(path, () => new Connection(path, schema, { create: true }));
    this.#reserve = new Reserve(`${path}.reserve`);
    this.#reserve.keep();
  }

  async read<T>(work: (connection: Connection) => T): Promise<T> {
    return orUnavailable(this.path, () => work(this.#connected()));
  }

  /**
   * `work` runs in a transaction that is durable (as `schema.synchronous` says) when this resolves; a second
   * time when the disk is full and it may use the reserve, as what `makesRoom` may.
   */
  async write<T>(
    work: (connection: Connection) => T,
    { makesRoom = this.schema.reserveFor === 'all' } = {},
  ): Promise<T> {
    return orUnavailable(this.path, () => {
      const connection = this.#connected();
      const attempt = () => connection.write(() => work(connection));
      try {
        const result = attempt();
        this.#reserve.keep();
        return result;
      } catch (error) {
        if (!makesRoom || !isFull(error) || !this.#reserve.spend()) throw error;
        return attempt();
      }
    });
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#disconnect();
  }

  #connected(): Connection {
    if (this.#closed) throw new Error('closed');
    if (this.#connection?.moved) this.#disconnect();
    this.#connection ??= new Connection(this.path, this.schema, { create: false });
    return this.#connection;
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && FULL.has(error.errcode);
}
