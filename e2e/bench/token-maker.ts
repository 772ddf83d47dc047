import { constants, createPrivateKey, sign } from 'node:crypto';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import { SALT } from '#shared/private-token/blind-rsa.ts';
import { challengeDigest, encodeChallenge } from '#shared/private-token/token-challenge.ts';
import { type TokenKeyPair, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { encodeTokenRequest } from '#shared/private-token/token-request.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { tokenInput } from '#shared/private-token/token.ts';
import { blindVoprf } from '#shared/private-token/voprf-client.ts';
import { evaluate } from '#shared/private-token/voprf.ts';
import { systemRandom } from '#shared/base/random.ts';

/** The digest of the challenge without a context for one origin; both by their server names. */
export function digestOf(type: TokenType, issuer: string, origin: string): Buffer {
  const context = Buffer.alloc(0);
  return challengeDigest(encodeChallenge({ type, issuer, context, origins: [origin] }));
}

type Authenticate = (input: Uint8Array) => Buffer;

/** By the private key: the authenticator of a blind signature is that of an ordinary one. */
const AUTHENTICATE: Readonly<Record<TokenType, (privateKey: Buffer) => Authenticate>> = {
  [VOPRF]: (privateKey) => (input) => evaluate(privateKey, input),
  [BLIND_RSA]: (pkcs8) => {
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT };
    return (input) => sign('sha384', input, pss);
  },
};

/** Makes tokens (RFC 9577 section 2.2.1) without a client and without blinding, which would cost more. */
export function tokenMaker({ type, id, privateKey }: TokenKeyPair, digest: Buffer): () => Buffer {
  const authenticate = AUTHENTICATE[type](privateKey);
  return () => {
    const input = tokenInput(type, systemRandom(32), digest, id);
    return Buffer.concat([input, authenticate(input)]);
  };
}

/** A TokenRequest (RFC 9578 sections 5.1 and 6.1). */
export interface BlindRequest {
  readonly content: Buffer;
  /** Whether this is the issuer's response to it. */
  isAnsweredBy(response: Uint8Array): boolean;
}

const BLIND = { [VOPRF]: blindVoprf, [BLIND_RSA]: blindRsa };

export function blindRequest({ type, id, publicKey }: TokenKeyPair): BlindRequest {
  const input = tokenInput(type, systemRandom(32), systemRandom(32), id);
  const { blinded, finalize } = BLIND[type](publicKey, input, systemRandom);
  return {
    content: encodeTokenRequest({ type, truncatedKeyId: truncatedKeyId(id), blinded }),
    isAnsweredBy: (response) => finalize(response) !== undefined,
  };
}
