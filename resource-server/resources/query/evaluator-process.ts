/**
 * A process that evaluates queries, one after the other: an expression of a client can use up any time
 * and any heap, and a thread that does so takes its process along. It knows no secret, ends with the
 * server that started it, and evaluates nothing for longer than the milliseconds that it is started with.
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

/** A script is what Node ends after some time, with all that it calls: regular expressions too. */
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

/** The error of the other context is no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

// They reach a whole group of processes; the server still answers what has been asked of it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('message', (task: QueryTask) => process.send?.(reply(task)));
process.send?.('ready');
