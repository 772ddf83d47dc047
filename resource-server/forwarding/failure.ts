import { HttpError } from '#shared/http/answer.ts';

/** What a client is told of a destination that did not do its part; `cause` is for the log. */
export function failure(status: 502 | 504, detail: string, cause: unknown): HttpError {
  return Object.assign(new HttpError(status, detail), { cause });
}
