import { type ClientBase, DatabaseError } from 'pg';
import { setTimeout } from '#shared/base/safe-timers.ts';
import { type Answer, type Asked, asking, Exchange } from './exchange.ts';

export const COMMIT = asking('COMMIT');
/** Alone it is a transaction that changes nothing, and waits for the standbys as all do; in another one it makes that wait. */
export const BEAT = "SELECT 1 FROM pg_logical_emit_message(true, 'countersign', '')";

/** SQLSTATE successful_completion. Its severity is a word in the language of the server. */
const NO_WARNING = '00000';

/** Milliseconds for what is never ended before. */
export const PATIENTLY = 2 ** 31 - 1;

/** A transaction may have been committed, or will be. */
export class InDoubt extends Error {
  /** The statement, while it is not answered. */
  readonly commit: Promise<unknown> | undefined;

  constructor(reason: string, options: ErrorOptions, unanswered?: Promise<unknown>) {
    super(`the commit is in doubt: ${reason}`, options);
    this.commit = unanswered;
  }
}

/**
 * Sends statements that commit: the last one is COMMIT, or they are in no transaction. A commit may be on the disk although
 * PostgreSQL did not answer, or answered with an error; one whose wait for a standby was cancelled succeeds with a warning, and may
 * not last. Each of these counts as failed, and is never repeated. Where a statement before it has failed, this rejects
 * with that, and nothing is done.
 */
export async function commit(
  client: ClientBase,
  asked: readonly Asked[],
  deadline: number,
): Promise<readonly Answer[]> {
  const isNamed = asked.at(-1) === COMMIT;
  const before = asked.length - (isNamed ? 1 : 0);
  // `pg` waits as long as it takes: a commit is never ended before.
  const exchange = new Exchange(asked, PATIENTLY);
  const { answers, done } = exchange;
  let warning: string | undefined;
  const note = ({ code, message }: Record<'code' | 'message', string | undefined>) => {
    // A statement warns before its answer: of transaction ids that run out, each that writes does.
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
