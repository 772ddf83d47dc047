import { type ClientBase, DatabaseError } from 'pg';
import { setTimeout } from '#shared/base/safe-timers.ts';
import { type Answer, type Asked, asking, Exchange } from './exchange.ts';

export const COMMIT = asking('COMMIT');
/** A statement that makes a commit wait for the standbys. Alone it is a transaction without changes. */
export const BEAT = "SELECT 1 FROM pg_logical_emit_message(true, 'countersign', '')";

/** SQLSTATE successful_completion. The severity is not used: it is a word in the language of the server. */
const NO_WARNING = '00000';

/** Milliseconds of a wait that never times out. */
export const PATIENTLY = 2 ** 31 - 1;

/** A transaction may have been committed, or will be. */
export class InDoubt extends Error {
  /** The statement, if it is not answered yet. */
  readonly commit: Promise<unknown> | undefined;

  constructor(reason: string, options: ErrorOptions, unanswered?: Promise<unknown>) {
    super(`the commit is in doubt: ${reason}`, options);
    this.commit = unanswered;
  }
}

/**
 * Sends statements that commit: the last one is COMMIT, or the statements are in no transaction. A commit may be on the
 * disk even if PostgreSQL did not answer, or answered with an error. If the wait for a standby is cancelled, PostgreSQL
 * only warns, and the commit may be lost. All these are failures, and are never repeated. If an earlier statement
 * fails, rejects with its error, and nothing is done.
 */
export async function commit(
  client: ClientBase,
  asked: readonly Asked[],
  deadline: number,
): Promise<readonly Answer[]> {
  const isNamed = asked.at(-1) === COMMIT;
  const before = asked.length - (isNamed ? 1 : 0);
  // `pg` waits without a limit: a commit is never cancelled.
  const exchange = new Exchange(asked, PATIENTLY);
  const { answers, done } = exchange;
  let warning: string | undefined;
  const note = ({ code, message }: Record<'code' | 'message', string | undefined>) => {
    // Earlier statements may warn, too: each write warns if transaction ids run out.
    if (code !== NO_WARNING && answers.length >= before) warning = message ?? '';
  };
  client.on('notice', note);
  client.query(exchange);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new InDoubt('no answer', {}, done)), deadline);
  try {
    await Promise.race([done, late.promise]);
    const tag = answers.at(-1)?.tag;
    if (isNamed && tag !== COMMIT.text) throw new Error(`the transaction ended with ${tag}`);
  } catch (cause) {
    const isBefore = answers.length < before;
    if (cause instanceof InDoubt || (isBefore && cause instanceof DatabaseError)) throw cause;
    throw new InDoubt(String(cause), { cause });
  } finally {
    clearTimeout(timer);
    client.off('notice', note);
  }
  if (warning !== undefined) throw new InDoubt(warning, {});
  return answers;
}
