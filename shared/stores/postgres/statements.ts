import type { ClientBase } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { batched } from '#shared/base/batched.ts';
import { nextTick } from '#shared/base/safe-timers.ts';
import type { Row, Sql, Transaction, Value } from '../sql/sql.ts';
import { lockOf } from './access.ts';
import { COMMIT, commit } from './commit.ts';
import { type Answer, type Asked, asking, Exchange, isOfStatement } from './exchange.ts';
import { NUMBERED, type Numbered, statementOf } from './text.ts';

/** Statements that share a message if they are asked before `when` calls back. */
export abstract class Statements implements Sql {
  readonly #ask: (asked: Asked) => Promise<Answer>;

  constructor(when: (send: () => void) => void) {
    this.#ask = batched(when, (asked) => this.send(asked));
  }

  async all<R = Row>(text: string, ...values: readonly Value[]): Promise<R[]> {
    return (await this.#ask(this.asking(text, values))).rows as R[];
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    const { tag } = await this.#ask(this.asking(text, values));
    return Number(tag.slice(tag.lastIndexOf(' ') + 1));
  }

  protected asking(text: string, values: readonly Value[]): Asked {
    return asking(text, ...values);
  }

  /** Resolves to the answers in order. */
  protected abstract send(asked: readonly Asked[]): Promise<readonly Awaitable<Answer>[]>;
}

/** Most statements that wait for the next one. More would take too long together. */
const TOGETHER = 100;

/** How a transaction begins. */
export interface Beginning {
  readonly begin: readonly Asked[];
  /** Replaces `begin` if the whole transaction is one message; absent: never. */
  readonly atOnce?: readonly Asked[];
}

const BEGIN = asking('BEGIN');
const LOSES = asking("SELECT set_config('synchronous_commit', 'off', true)");

export const WRITE: Beginning = { begin: [BEGIN], atOnce: [] };
/** A transaction with savepoints, which one message cannot have. */
export const PARTS: Beginning = { begin: [BEGIN] };
/** A transaction whose commit may be lost in a power cut or a failover. */
export const PASSING: Beginning = { begin: [BEGIN, LOSES], atOnce: [LOSES] };
/** All reads are of one moment. */
export const SNAPSHOT: Beginning = {
  begin: [asking('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')],
};

interface HeldOptions {
  readonly schema: string;
  /** Milliseconds for the answer to a commit. */
  readonly deadline: number;
}

/** The statements of a transaction. BEGIN shares a message with the first statement, and COMMIT with the last one. */
export class Held extends Statements implements Transaction {
  readonly last: Sql = {
    all: (...asked) => this.#asLast(() => this.all(...asked)),
    run: (...asked) => this.#asLast(() => this.run(...asked)),
  };
  /** The tables with added rows that wait for numbers. */
  readonly numbered = new Set<Numbered>();
  readonly #client: ClientBase;
  readonly #options: HeldOptions;
  readonly #beginning: Beginning;
  #isLost = false;
  /** The statements that wait for the next one. */
  #before: Asked[] = [];
  #state: 'new' | 'begun' | 'ended' = 'new';
  #isLast = false;

  constructor(client: ClientBase, beginning: Beginning, options: HeldOptions) {
    // After all continuations that need no answer have asked.
    super(nextTick);
    this.#client = client;
    this.#beginning = beginning;
    this.#options = options;
  }

  /** Whether the connection is lost: a statement was not answered, or the server has ended the connection. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Refuses later statements, which would not be in the transaction. Returns whether a rollback is needed. */
  giveUp(): boolean {
    const isBegun = this.#state === 'begun';
    this.#state = 'ended';
    return isBegun;
  }

  lock<R = Row>(text: string, ...values: readonly Value[]): Promise<R[]> {
    return this.all<R>(`${text} FOR UPDATE`, ...values);
  }

  async lockNames(names: readonly string[]): Promise<void> {
    const keys = [...new Set(names)].map((name) => lockOf(this.#options.schema, name)).toSorted();
    for (const key of keys) await this.later('SELECT 1 FROM pg_advisory_xact_lock(?::bigint)', key);
  }

  later(text: string, ...values: readonly Value[]): Awaitable<unknown> {
    const count = this.#before.push(this.asking(text, values));
    return count < TOGETHER ? undefined : this.send([]);
  }

  /** A commit always waits for the disk. */
  flush(): void {}

  /** Commits, unless the transaction has ended. */
  async end(): Promise<void> {
    const isEmpty = this.#state === 'new' && this.#before.length === 0;
    if (isEmpty || this.#state === 'ended') return;
    this.#isLast = true;
    await this.send([]);
  }

  #asLast<T>(ask: () => T): T {
    this.#isLast = true;
    return ask();
  }

  protected override asking(text: string, values: readonly Value[]): Asked {
    const { numbered } = statementOf(text);
    if (numbered) this.numbered.add(numbered);
    return super.asking(text, values);
  }

  protected override async send(asked: readonly Asked[]): Promise<readonly Answer[]> {
    const { begin, atOnce } = this.#beginning;
    const before = this.#before.splice(0);
    const isNew = this.#state === 'new';
    if (this.#state === 'ended') throw new Error('the transaction has ended');
    const isAtOnce = isNew && this.#isLast && atOnce !== undefined;
    if (isAtOnce) before.unshift(...atOnce);
    else if (isNew) before.unshift(...begin);
    const all = [...before, ...asked];
    if (!isAtOnce) this.#state = 'begun';
    if (!this.#isLast) {
      const { done } = this.#client.query(new Exchange(all));
      return (await this.#noting(done)).slice(before.length);
    }
    if (!isAtOnce) all.push(COMMIT);
    const answers = await this.#noting(commit(this.#client, all, this.#options.deadline));
    this.#state = 'ended';
    return answers.slice(before.length);
  }

  /** Resolves to the answers. Notes a lost connection. */
  async #noting<T>(answers: Promise<T>): Promise<T> {
    try {
      return await answers;
    } catch (error) {
      this.#isLost ||= !isOfStatement(error);
      throw error;
    }
  }
}

/**
 * Numbers the rows of a table, in a transaction of its own. If a transaction numbered its own row, followers could see
 * the number before a lower one, and lose the lower row (tried: 548 of 3,200). So one process at a time numbers all
 * rows that are committed when it gets the lock: lock and numbers are two statements of one message. A row that is
 * deleted meanwhile leaves a gap.
 */
export async function number(sql: Held, table: Numbered): Promise<void> {
  const column = NUMBERED[table];
  const own = `FROM numbers WHERE name = '${table}'`;
  await sql.later(`SELECT ${own} FOR UPDATE`);
  await sql.last.run(
    `WITH waiting AS (
       SELECT row, row_number() OVER (ORDER BY row) AS n FROM ${table} WHERE ${column} IS NULL
     ), given AS (
       UPDATE ${table} SET ${column} = (SELECT last ${own}) + waiting.n
       FROM waiting WHERE ${table}.row = waiting.row AND ${column} IS NULL
       RETURNING ${column}
     )
     UPDATE numbers SET last = (SELECT max(${column}) FROM given)
     WHERE name = '${table}' AND EXISTS (SELECT FROM given)`,
  );
}
