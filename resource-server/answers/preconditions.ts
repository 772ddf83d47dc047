import { evaluatePreconditions } from '#shared/http/preconditions.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/**
 * The validators of the current representation: a strong entity tag without quotes, and the modification time in
 * milliseconds since the epoch.
 */
export interface Validators {
  readonly etag: string;
  readonly modified?: number;
}

/**
 * Evaluates the conditions of a request (RFC 9110 section 13.2.2). `now` is in milliseconds since the epoch.
 */
export function evaluateConditions(
  { headers, method = '' }: Pick<AnyRequest, 'headers' | 'method'>,
  current: Validators | undefined,
  now: number,
): 'proceed' | 304 | 412 {
  return evaluatePreconditions(
    {
      method,
      ifMatch: headers['if-match'],
      ifNoneMatch: headers['if-none-match'],
      ifModifiedSince: headers['if-modified-since'],
      ifUnmodifiedSince: headers['if-unmodified-since'],
    },
    current && { ...current, etag: { weak: false, opaque: current.etag } },
    now,
  );
}

/** Returns the 412 error (RFC 9110 section 15.5.13). */
export function preconditionFailed(): HttpError {
  return new HttpError(412, 'It is not in the state that the conditions of the request ask for.');
}
