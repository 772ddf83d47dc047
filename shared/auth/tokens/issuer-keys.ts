import type { KeyObject } from 'node:crypto';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';

/** The issuer's public keys, from any source. */
export interface IssuerKeys {
  /**
   * Returns the key of that `kid`, the same object for as long as the issuer publishes the same key. Returns undefined
   * if the issuer has no such key, or none that fits the algorithm. Throws `KeysUnavailable` if it cannot find out.
   */
  key(kid: string, algorithm: JwsAlgorithm): Awaitable<KeyObject | undefined>;
}

/** Thrown if the issuer does not answer, so that nobody can tell whether a key exists. It becomes 503. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('the keys of the issuer cannot be fetched');
    this.retryAfter = retryAfter;
  }
}
