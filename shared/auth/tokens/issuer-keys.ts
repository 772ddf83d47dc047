import type { KeyObject } from 'node:crypto';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';

/** The issuer's public keys, from any source. */
export interface IssuerKeys {
  /**
   * Returns the key with that `kid`, the same object while the issuer publishes the same key. Returns undefined if
   * the issuer has no such key, or none for the algorithm. Throws `KeysUnavailable` if it cannot find out.
   */
  key(kid: string, algorithm: JwsAlgorithm): Awaitable<KeyObject | undefined>;
}

/** Thrown if the issuer does not answer, so that it is unknown whether a key exists. The answer is 503. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('the keys of the issuer cannot be fetched');
    this.retryAfter = retryAfter;
  }
}
