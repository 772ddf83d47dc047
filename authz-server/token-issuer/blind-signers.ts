import { createPrivateKey } from 'node:crypto';
import type { Turn } from '#shared/base/line.ts';
import { blindSign } from '#shared/private-token/blind-rsa.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';

/**
 * Makes the TokenResponse to a blinded message. Returns undefined if it is not an element, or not below the modulus
 * (RFC 9578 section 5.2, RFC 9474 section 4.3).
 */
export type BlindSign = (turn: Turn, blinded: Buffer) => Promise<Buffer | undefined>;

/** For each token type, a function that makes the blind signer of a key. */
export type BlindSigners = Readonly<Record<TokenType, (key: TokenKeyPair) => BlindSign>>;

export function blindSigners(voprf: VoprfThreads): BlindSigners {
  return {
    [VOPRF]:
      ({ privateKey, publicKey }) =>
      (turn, blinded) =>
        voprf.blindEvaluate(turn, privateKey, publicKey, blinded),
    [BLIND_RSA]: ({ privateKey }) => {
      const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
      return async (_turn, blinded) => blindSign(key, blinded);
    },
  };
}
