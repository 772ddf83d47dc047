import type { KeyObject } from 'node:crypto';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';

/** The issuer's public keys, however a server comes by them. */
export interface IssuerKeys {
  /**
   * The key of that `kid`: the same object for as long as the issuer publishes the same key. Undefined
   * when the issuer has none, or none that fits the algorithm. Throws `KeysUnavailable` when that
   * cannot be told.
   */
  key(kid: string, algorithm: JwsAlgorithm): Awaitable<KeyObject | undefined>;
}

/** Whether a key exists cannot be told now: the issuer does not answer. Becomes 503. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  /** Seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('the keys of the issuer cannot be fetched');
    this.retryAfter = retryAfter;
  }
}
