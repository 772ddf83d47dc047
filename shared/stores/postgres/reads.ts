import type { ClientBase } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';
import { type Answer, type Asked, Exchange, isOfStatement } from './exchange.ts';
import { Statements } from './statements.ts';

/** Statements of one message. More statements would wait for one another longer than for a second message. */
const TOGETHER = 32;

/** Runs work on a connection. The `cause` of a rejection is the error. */
type Connected = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

/**
 * Statements outside of transactions. Those of one turn share a message, since a message costs more than most reads.
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
