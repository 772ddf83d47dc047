import type { ClientBase } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';
import { type Answer, type Asked, Exchange, isOfStatement } from './exchange.ts';
import { Statements } from './statements.ts';

/** Statements of a message: more would wait for each other longer than for a message of their own. */
const TOGETHER = 32;

/** Runs work on a connection; rejects with what went wrong as the `cause`. */
type Connected = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

/**
 * Statements outside of any transaction, each of its own moment. Those that anybody asks in one turn of the event loop travel
 * together, since a message costs more than most reads. One that fails is nothing to the others.
 */
export class Reads extends Statements {
  readonly #connected: Connected;

  constructor(connected: Connected) {
    super(setImmediate);
    this.#connected = connected;
  }

  protected override async send(asked: readonly Asked[]): Promise<readonly Awaitable<Answer>[]> {
    const messages: Promise<readonly Awaitable<Answer>[]>[] = [];
    for (let n = 0; n < asked.length; n += TOGETHER) {
      messages.push(this.#message(asked.slice(n, n + TOGETHER)));
    }
    return (await Promise.all(messages)).flat();
  }

  async #message(asked: readonly Asked[]): Promise<readonly Awaitable<Answer>[]> {
    const exchange = new Exchange(asked);
    try {
      return await this.#connected((client) => client.query(exchange).done);
    } catch (error) {
      if (asked.length === 1 || !isOfStatement((error as Error).cause)) throw error;
      return asked.map((one, n) => exchange.answers[n] ?? this.#alone(one));
    }
  }

  async #alone(asked: Asked): Promise<Answer> {
    const [answer] = await this.#message([asked]);
    return answer as Awaitable<Answer>;
  }
}
