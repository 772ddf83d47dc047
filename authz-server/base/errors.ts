import { errors } from 'oidc-provider';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** An error of the engine's kind that it answers as it is, with a status it has no class for. */
class EngineError extends errors.OIDCProviderError {
  constructor(status: number, error: string, description: string, detail?: string) {
    super(status, error, detail === undefined ? undefined : { detail });
    this.expose = true;
    this.error_description = description;
  }
}

/** The store cannot answer: 503. */
export class TemporarilyUnavailable extends EngineError {
  constructor(detail: string) {
    super(503, 'temporarily_unavailable', 'the server cannot do this now; try again', detail);
  }
}

/** A store's outage, told in the engine's words. */
export async function orTemporarilyUnavailable<T>(work: Awaitable<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof StoreUnavailable ? new TemporarilyUnavailable(error.message) : error;
  }
}

/** A limit was reached: 429, with Retry-After where the answer is written. */
export class TooManyRequests extends EngineError {
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(429, 'temporarily_unavailable', `too many requests; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}
