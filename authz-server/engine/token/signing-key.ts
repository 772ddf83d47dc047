import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { ExternalSigningKey } from 'oidc-provider';
import type { Jwk } from '#shared/keys/signing-key-lifecycle.ts';

/**
 * An ES256 key (RFC 7518 section 3.4) that signs at once: by way of the thread pool, as the engine has it
 * signed, costs three times as much. RS256 takes so long that it belongs there.
 */
export class SigningKey extends ExternalSigningKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(jwk: Jwk) {
    super();
    Object.assign(this, { alg: jwk['alg'], kid: jwk['kid'] });
    this.#private = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  override sign(data: Uint8Array): Uint8Array {
    return sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' });
  }
}
