import type { ClientBase } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { batched } from '#shared/base/batched.ts';
import { nextTick } from '#shared/base/safe-timers.ts';
import type { Row, Sql, Transaction, Value } from '../sql/sql.ts';
import { lockOf } from './access.ts';
import { COMMIT, commit } from './commit.ts';
import { type Answer, type Asked, asking, Exchange, isOfStatement } from './exchange.ts';
import { NUMBERED, type Numbered, statementOf } from './text.ts';

/** Statements, of which those travel together that are asked before `when` calls. */
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

  /** Resolves to the answers to these, in their order. */
  protected abstract send(asked: readonly Asked[]): Promise<readonly Awaitable<Answer>[]>;
}

/** Statements that wait for the next one: more would take too long together. */
const TOGETHER = 100;

/** How a transaction begins. */
export interface Beginning {
  readonly begin: readonly Asked[];
  /** In place of that where all of it is one exchange, which is a transaction; absent: not even then. */
  readonly atOnce?: readonly Asked[];
}

const BEGIN = asking('BEGIN');
const LOSES = asking("SELECT set_config('synchronous_commit', 'off', true)");

export const WRITE: Beginning = { begin: [BEGIN], atOnce: [] };
/** It has savepoints, which one exchange alone cannot have. */
export const PARTS: Beginning = { begin: [BEGIN] };
/** Its commit may be lost when the power fails. */
export const PASSING: Beginning = { begin: [BEGIN, LOSES], atOnce: [LOSES] };
/** All is of one moment. */
export const SNAPSHOT: Beginning = {
  begin: [asking('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')],
};

interface HeldOptions {
  readonly schema: string;
  /** Milliseconds for the answer to a commit. */
  readonly deadline: number;
}

/** The statements of a transaction. What begins it travels with the first one, and what commits it with the last one. */
export class Held extends Statements implements Transaction {
  readonly last: Sql = {
    all: (...asked) => this.#asLast(() => this.all(...asked)),
    run: (...asked) => this.#asLast(() => this.run(...asked)),
  };
  /** The tables whose rows it has added wait for their numbers. */
  readonly numbered = new Set<Numbered>();
  readonly #client: ClientBase;
  readonly #options: HeldOptions;
  readonly #beginning: Beginning;
  #isLost = false;
  /** They travel with the next statement. */
  #before: Asked[] = [];
  #state: 'new' | 'begun' | 'ended' = 'new';
  #isLast = false;

  constructor(client: ClientBase, beginning: Beginning, options: HeldOptions) {
    // Once all that goes on without an answer has asked.
    super(nextTick);
    this.#client = client;
    this.#beginning = beginning;
    this.#options = options;
  }

  /** Whether the connection is of no use any more: a statement was not answered, or the server says so. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Refuses what is still asked: it would be carried out alone. Returns whether there is something to roll back. */
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

  /** A commit is on the disk of all that it waits for. */
  flush(): void {}

  /** Commits, unless that was done. */
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

  /** Resolves to the answers; notes whether the connection is lost. */
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
 * Numbers the rows of a table, in a transaction of its own. A number that a transaction took for its own row could be
 * seen before a lower one, and a follower would lose that (tried: 548 of 3,200). So one process at a time numbers all rows
 * that were committed by then: the lock is a statement of its own, and the next one sees what was committed before the lock
 * was given, though both are in one message. A row that is deleted meanwhile leaves its number out.
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
