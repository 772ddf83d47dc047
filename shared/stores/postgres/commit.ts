import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';

/** A statement that commits, and what the server says of it. `pg` waits as long as it takes: it is never ended before. */
interface Committing {
  readonly text: string;
  readonly command: string;
  readonly query_timeout: number;
}

export const COMMIT: Committing = { text: 'COMMIT', command: 'COMMIT', query_timeout: 2 ** 31 - 1 };
/** Alone it is a transaction that changes nothing, and waits for the standbys as all do; in another one it makes that wait. */
export const BEAT: Committing = {
  ...COMMIT,
  text: "SELECT 1 FROM pg_logical_emit_message(true, 'countersign', '')",
  command: 'SELECT',
};

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
 * Commits. A commit may be on the disk although PostgreSQL did not answer, or answered with an error; one whose wait for a standby
 * was cancelled succeeds with a warning, and may not last. Each of these counts as failed, and is never repeated.
 */
export async function commit(
  client: ClientBase,
  committing: Committing,
  deadline: number,
): Promise<void> {
  let warning: string | undefined;
  const note = ({
    severity,
    message,
  }: {
    severity?: string | undefined;
    message?: string | undefined;
  }) => {
    if (severity === 'WARNING') warning = message ?? '';
  };
  client.on('notice', note);
  const answer = client.query(committing);
  const late = new AbortController();
  try {
    const done = await Promise.race([answer, sleep(deadline, undefined, { signal: late.signal })]);
    if (done === undefined) throw new InDoubt('no answer', {}, answer);
    if (done.command !== committing.command) {
      throw new Error(`the transaction ended with ${done.command}`);
    }
  } catch (cause) {
    throw cause instanceof InDoubt ? cause : new InDoubt(String(cause), { cause });
  } finally {
    late.abort();
    client.off('notice', note);
  }
  if (warning !== undefined) throw new InDoubt(warning, {});
}
