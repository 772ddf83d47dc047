import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { z } from 'zod';
import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';

/** A private key for ES256 (RFC 7518 section 6.2). */
export const privateJwkSchema = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});
export type PrivateJwk = z.infer<typeof privateJwkSchema>;

/** A key pair and the proofs of it (RFC 9449 section 4.2). */
export interface Prover {
  readonly privateJwk: PrivateJwk;
  proof(of: {
    readonly method: string;
    readonly url: string;
    readonly accessToken?: string;
    readonly nonce?: string | undefined;
  }): Promise<string>;
}

/** With a key pair that is made for it. */
export async function createProver(clock: Clock, random: Random): Promise<Prover> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return loadProver(privateJwkSchema.parse(await exportJWK(privateKey)), clock, random);
}

/** With the key pair of an earlier prover. Rejects when it is no point of the curve. */
export async function loadProver(
  privateJwk: PrivateJwk,
  clock: Clock,
  random: Random,
): Promise<Prover> {
  const privateKey = await importJWK(privateJwk, 'ES256');
  const { d: _, ...jwk } = privateJwk;
  return {
    privateJwk,
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
