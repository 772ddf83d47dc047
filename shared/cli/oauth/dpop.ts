import { DPoP, type DPoPHandle, generateKeyPair, modifyAssertion } from 'oauth4webapi';
import * as z from 'zod';
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

/** Makes DPoP proofs with a key pair (RFC 9449 section 4.2). It remembers the nonces of each server. */
export interface Prover {
  readonly privateJwk: PrivateJwk;
  readonly handle: DPoPHandle;
}

const { subtle } = crypto;

/** Creates a prover with a new key pair. */
export async function createProver(clock: Clock, random: Random): Promise<Prover> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const privateJwk = privateJwkSchema.parse(await subtle.exportKey('jwk', privateKey));
  return loadProver(privateJwk, clock, random);
}

/** Creates a prover with an earlier key pair. Rejects if the key is not on the curve. */
export async function loadProver(
  privateJwk: PrivateJwk,
  clock: Clock,
  random: Random,
): Promise<Prover> {
  const { d: _, ...publicJwk } = privateJwk;
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('jwk', privateJwk, ES256, false, ['sign']),
    subtle.importKey('jwk', publicJwk, ES256, true, ['verify']),
  ]);
  const handle = DPoP(
    {},
    { privateKey, publicKey },
    {
      [modifyAssertion]: (_header, claims) => {
        Object.assign(claims, { jti: randomId(random), iat: epochSeconds(clock) });
      },
    },
  );
  return { privateJwk, handle };
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' } as const;
