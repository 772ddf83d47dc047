import { errors } from 'oidc-provider';
import { HttpError } from '#shared/http/answer.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** An error that the engine answers unchanged, for a status without an error class of the engine. */
class EngineError extends errors.OIDCProviderError {
  constructor(status: number, error: string, description: string, detail?: string) {
    super(status, error, detail === undefined ? undefined : { detail });
    this.expose = true;
    this.error_description = description;
  }
}

/** The error for a store that cannot answer: 503. */
export class TemporarilyUnavailable extends EngineError {
  constructor(detail: string) {
    super(503, 'temporarily_unavailable', 'the server cannot do this now; try again', detail);
  }
}

/** Awaits work on the store and turns a store's outage into `TemporarilyUnavailable`. */
export async function orTemporarilyUnavailable<T>(work: Awaitable<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreUnavailable ? new TemporarilyUnavailable(error.message) : error;
  }
}

/** The error for an authorization request without `code_challenge` (RFC 7636 section 4.4.1). */
export class MissingChallenge extends errors.InvalidRequest {}

/** The error for a reached limit: 429. The code that writes the answer adds Retry-After. */
export class TooManyRequests extends EngineError {
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(429, 'temporarily_unavailable', `too many requests; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

/** The error for a form that is longer than the engine reads: 413. */
export const formTooLong = () =>
  new HttpError(413, 'A form here has at most 56 KiB.', { Connection: 'close' });
