import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { epochSeconds, systemClock } from '#shared/base/clock.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';

/** A key pair, and its DPoP proofs for requests that a test sends itself (RFC 9449 section 4.2). */
export interface DpopProver {
  proof(of: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string;
    readonly nonce?: string | undefined;
  }): Promise<string>;
}

export async function dpopProver(): Promise<DpopProver> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  return {
    proof: ({ method, url, accessToken, nonce }) => {
      const { origin, pathname } = new URL(url);
      return new SignJWT({
        jti: randomId(systemRandom),
        htm: method,
        htu: origin + pathname,
        ...(accessToken !== undefined && {
          ath: createHash('sha256').update(accessToken).digest('base64url'),
        }),
        ...(nonce !== undefined && { nonce }),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .setIssuedAt(epochSeconds(systemClock))
        .sign(privateKey);
    },
  };
}
