import { HttpError } from '#shared/http/answer.ts';

/** The error of a destination that failed. `detail` is for the client, and `cause` for the log. */
export function failure(status: 502 | 504, detail: string, cause: unknown): HttpError {
  return Object.assign(new HttpError(status, detail), { cause });
}
