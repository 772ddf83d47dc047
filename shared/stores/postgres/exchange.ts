import { type Connection, DatabaseError, type Submittable, types } from 'pg';
import type { Value } from '../sql/sql.ts';
import { fromServer, statementOf, toServer } from './text.ts';

/** A statement and its values, as they are sent. */
export interface Asked {
  /** Each connection plans a statement with one name once. */
  readonly name: string;
  readonly text: string;
  readonly values: (string | Buffer | null)[];
}

/** Returns a statement of sql.ts with its values. */
export function asking(written: string, ...values: readonly Value[]): Asked {
  const { name, text, parameters } = statementOf(written);
  return {
    name,
    text,
    values: parameters.map(({ place, isList }) => {
      const value = values[place] ?? null;
      if (isList) return arrayOf(JSON.parse(String(value)) as unknown[]);
      if (value === null || typeof value === 'string') return toServer(value);
      return typeof value === 'number' ? String(value) : Buffer.from(value);
    }),
  };
}

/** Returns an array in the text format of PostgreSQL. */
function arrayOf(values: readonly unknown[]): string {
  const texts = values.map((one) => toServer(String(one)).replaceAll(/["\\]/g, '\\$&'));
  return texts.length === 0 ? '{}' : `{"${texts.join('","')}"}`;
}

export interface Answer {
  readonly rows: unknown[][];
  /** The command and the number of rows, such as `UPDATE 1`. */
  readonly tag: string;
}

/**
 * SQLSTATE read_only_sql_transaction, and the codes of a server that ends a connection, stops or starts. The connection
 * is lost, and another server may be the primary. The severity is not used: it is a word in the language of the server.
 */
const ENDS: ReadonlySet<string> = new Set([
  '25006',
  '25P03',
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
]);

/** Whether only a statement has failed, and the connection still works. */
export const isOfStatement = (error: unknown): boolean =>
  error instanceof DatabaseError && !ENDS.has(error.code ?? '');

type Decode = (text: string) => unknown;

/** Decoders by the number of the type: bigint, integer, double precision, bytea. All other types are text. */
const DECODES: Readonly<Record<number, Decode>> = {
  20: Number,
  23: Number,
  701: Number,
  17: types.getTypeParser(17),
};

/** The prepared statements of a connection by name, with the decoders of their columns. */
const known = new WeakMap<Connection, Map<string, readonly Decode[]>>();

interface Described {
  readonly fields: readonly { readonly dataTypeID: number }[];
}

/**
 * A Submittable of `pg` with several statements in one message. PostgreSQL answers them together, and executes none
 * after a failed one. Outside of a transaction they are one transaction. `pg` alone sends a message for each statement,
 * describes its rows each time and copies more.
 */
export class Exchange implements Submittable {
  readonly asked: readonly Asked[];
  /** The answers to the executed statements. */
  readonly answers: Answer[] = [];
  /** Rejects with the error of `pg`. */
  readonly done: Promise<readonly Answer[]>;
  /** Milliseconds of the longest wait; absent: the value of the connection. */
  readonly query_timeout: number | undefined;
  /** Called by `pg`, with an error if the exchange failed. */
  callback: (error?: unknown) => void;
  /** The statements that this exchange prepares. */
  readonly #first: string[] = [];
  #known = new Map<string, readonly Decode[]>();
  #rows: unknown[][] = [];

  constructor(asked: readonly Asked[], patience?: number) {
    this.asked = asked;
    this.query_timeout = patience;
    const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
    this.done = promise;
    this.callback = (error) => (error ? reject(error) : resolve(this.answers));
  }

  submit(connection: Connection): void {
    const { stream } = connection;
    this.#known = knownOf(connection);
    stream.cork();
    for (const { name, text, values } of this.asked) {
      const isKnown = this.#known.has(name);
      if (!isKnown) {
        this.#known.set(name, []);
        this.#first.push(name);
        // PostgreSQL may have prepared the statement in an exchange that failed later.
        connection.close({ type: 'S', name }, true);
        connection.parse({ name, text, types: [] }, true);
      }
      connection.bind({ statement: name, values }, true);
      if (!isKnown) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    stream.uncork();
  }

  handleRowDescription({ fields }: Described): void {
    const { name } = this.#current;
    this.#known.set(
      name,
      fields.map(({ dataTypeID }) => DECODES[dataTypeID] ?? fromServer),
    );
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const decodes = this.#known.get(this.#current.name) ?? [];
    this.#rows.push(fields.map((text, at) => (text === null ? null : decodes[at]?.(text))));
  }

  handleCommandComplete({ text: tag }: { readonly text: string }): void {
    this.answers.push({ rows: this.#rows, tag });
    this.#rows = [];
  }

  handleError(error: unknown): void {
    for (const name of this.#first) this.#known.delete(name);
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  get #current(): Asked {
    return this.asked[this.answers.length] as Asked;
  }
}

function knownOf(connection: Connection): Map<string, readonly Decode[]> {
  const found = known.get(connection);
  if (found) return found;
  const made = new Map<string, readonly Decode[]>();
  known.set(connection, made);
  return made;
}
