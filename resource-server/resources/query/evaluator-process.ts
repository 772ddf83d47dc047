/**
 * A process that evaluates queries, one after the other.
 * A client's expression can use up any time and any heap, and a thread that does so ends its whole process. This
 * process has no secrets, ends with its server, and evaluates each query for a limited time, its argument in
 * milliseconds.
 */
import { Script } from 'node:vm';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { evaluateQuery, type QueryTask } from './evaluate.ts';

export type EvaluatorReply =
  | { readonly kind: 'result'; readonly content: Uint8Array }
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string; reason: string }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly reason: string };

const timeout = Number(process.argv[2]);

/**
 * Node can interrupt a script after some time, together with all functions that the script calls, regular expressions
 * included.
 */
const script = new Script('run()');

function reply(task: QueryTask): EvaluatorReply {
  try {
    const run = () => evaluateQuery(task);
    const content = script.runInNewContext({ run }, { timeout }) as Buffer;
    return { kind: 'result', content };
  } catch (error) {
    if (isTimeout(error)) return { kind: 'late' };
    if (error instanceof HttpError || error instanceof BadRequest) {
      const { status, message: detail } = error;
      const reason = error instanceof HttpError ? error.reason : undefined;
      return { kind: 'refused', status, detail, reason: reason ?? detail };
    }
    return { kind: 'failed', reason: String(error) };
  }
}

/** True if the error is a timeout. An error from the other context is not an `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

// Signals reach a whole process group. This process ignores them, since the server still answers the requests that it
// has received.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('message', (task: QueryTask) => process.send?.(reply(task)));
process.send?.('ready');
