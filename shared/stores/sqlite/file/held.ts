import type { Row, Transaction, Value } from '../../sql/sql.ts';

/** Statements that are answered at once. */
export interface Statements {
  all<R = Row>(text: string, ...values: Value[]): R[];
  run(text: string, ...values: Value[]): number;
}

type Connection = Statements & Pick<Transaction, 'flush'>;

/** A connection for the time of a transaction. Later statements fail, since they would be outside of it. */
export class Held implements Transaction {
  #connection: Connection | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  all<R = Row>(text: string, ...values: Value[]): R[] {
    return this.#open.all<R>(text, ...values);
  }

  run(text: string, ...values: Value[]): number {
    return this.#open.run(text, ...values);
  }

  later(text: string, ...values: Value[]): void {
    this.run(text, ...values);
  }

  /** Only one transaction writes at a time, so rows need no locks. */
  lock<R = Row>(text: string, ...values: Value[]): R[] {
    return this.all<R>(text, ...values);
  }

  lockNames(): void {}

  get last(): this {
    return this;
  }

  flush(): void {
    this.#open.flush();
  }

  end(): void {
    this.#connection = undefined;
  }

  get #open(): Connection {
    if (this.#connection === undefined) throw new Error('the transaction has ended');
    return this.#connection;
  }
}
