import { StoreUnavailable } from '../stores.ts';
import { Connection } from './connection.ts';
import type { Schema } from './schema.ts';

/** Whatever goes wrong inside is `StoreUnavailable` outside: a full disk never looks like a "no". */
export function orUnavailable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause;
    throw new StoreUnavailable(`${path}: ${String(cause)}`, { cause });
  }
}

/**
 * A file of the embedded store. Follows its path: when another file was moved there (a backup was
 * restored), the next verb works on that one, not on the ghost of the old.
 */
export class SqliteFile implements Disposable {
  readonly path: string;
  readonly schema: Schema;
  #connection: Connection | undefined;
  #closed = false;

  /** Creates the file when it is missing. */
  constructor(path: string, schema: Schema) {
    this.path = path;
    this.schema = schema;
    this.#connection = orUnavailable(path, () => new Connection(path, schema, { create: true }));
  }

  async read<T>(work: (connection: Connection) => T): Promise<T> {
    return orUnavailable(this.path, () => work(this.#connected()));
  }

  /** `work` runs in a transaction that is durable (as `schema.synchronous` says) when this resolves. */
  async write<T>(work: (connection: Connection) => T): Promise<T> {
    return orUnavailable(this.path, () => {
      const connection = this.#connected();
      return connection.write(() => work(connection));
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
