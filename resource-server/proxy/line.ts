import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { type Answer } from '#shared/http/answer.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';

/** One log line for a request or a tunnel. It never contains credentials or a query. */
export interface Line {
  /** The value of X-Request-Id. */
  readonly id: string;
  note(fields: LogFields): void;
  /** Notes the reason, and returns the client's answer. A defect of this server is logged with its stack trace. */
  fail(error: unknown): Answer;
  /** Writes the line. Later calls write nothing. */
  write(fields: LogFields): void;
}

export interface LineParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

export function startLine(event: string, { log, clock, random }: LineParts): Line {
  const start = clock.now();
  const id = randomId(random);
  let noted: LogFields = { id };
  let written = false;
  return {
    id,
    note(fields) {
      noted = { ...noted, ...fields };
    },
    fail(error) {
      const { message, cause, stack } = error instanceof Error ? error : new Error(String(error));
      const reason = [message, messageOf(cause)].join(' ').trim();
      noted = { ...noted, reason };
      const answer = errorAnswer(error);
      if (answer.status === 500) log.error('request.failed', { reason: stack });
      return answer;
    },
    write(fields) {
      if (written) return;
      written = true;
      log.info(event, { ...noted, ...fields, milliseconds: clock.now() - start });
    },
  };
}

function messageOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'message' in cause
    ? String(cause.message)
    : '';
}
