import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Clock, epochSeconds } from '#shared/clock.ts';
import { type Random, randomId } from '#shared/random.ts';

/** A key pair that was made for one use, and the proofs of it (RFC 9449 section 4.2). */
export interface Prover {
  readonly privateJwk: JWK;
  proof(of: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string;
    readonly nonce?: string | undefined;
  }): Promise<string>;
}

export async function createProver(clock: Clock, random: Random): Promise<Prover> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    privateJwk: await exportJWK(privateKey),
    proof: ({ method, url, accessToken, nonce }) => {
      const { origin, pathname } = new URL(url);
      return new SignJWT({
        jti: randomId(random),
        htm: method,
        htu: origin + pathname,
        ...(accessToken !== undefined && {
          ath: createHash('sha256').update(accessToken).digest('base64url'),
        }),
        ...(nonce !== undefined && { nonce }),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .setIssuedAt(epochSeconds(clock))
        .sign(privateKey);
    },
  };
}
