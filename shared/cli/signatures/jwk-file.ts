import { createPrivateKey, type KeyObject } from 'node:crypto';
import { importPublicJwk, type JwsAlgorithm, MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import type { VerifyingKey } from '#shared/signatures/verify.ts';
import { Failure } from '../arguments/command.ts';
import { fileContent } from '../arguments/bounded-file.ts';

export interface SigningJwk {
  readonly kid: string;
  readonly alg: JwsAlgorithm['alg'];
  readonly key: KeyObject;
}

/** Reads a private JWK (RFC 7517) that has `kid` and `alg`. Throws `Failure`. */
export async function readSigningJwk(file: string): Promise<SigningJwk> {
  const [jwk, ...more] = await jwksIn(file);
  if (jwk === undefined || more.length > 0) throw new Failure(`${file} has not exactly one key`);
  const { kid } = jwk;
  const algorithm = algorithmOf(jwk, file);
  if (typeof kid !== 'string' || kid === '') throw new Failure(`the key in ${file} has no kid`);
  try {
    const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
    return { kid, alg: algorithm.alg, key };
  } catch {
    throw new Failure(`${file} has no private key`);
  }
}

/** Reads the keys of a JWK or a JWK Set, by `kid`, to verify signatures with. Private members are ignored. */
export async function readVerifyingKeys(file: string): Promise<ReadonlyMap<unknown, VerifyingKey>> {
  const jwks = await jwksIn(file);
  return new Map(
    jwks.map((jwk) => {
      const algorithm = algorithmOf(jwk, file);
      const key = importPublicJwk(publicPart(jwk), algorithm);
      if (key === undefined) throw new Failure(`${file} has a key that is not for its alg`);
      return [jwk['kid'], { algorithm, key }] as const;
    }),
  );
}

/** A private key is for signing alone; its public part is for verifying (RFC 7517 section 4.3). */
const publicPart = (jwk: JsonObject): JsonObject => ({ ...jwk, key_ops: undefined });

function algorithmOf({ alg }: JsonObject, file: string): JwsAlgorithm {
  const algorithm = MESSAGE_ALGORITHMS.get(alg);
  if (algorithm !== undefined) return algorithm;
  throw new Failure(
    `the alg of the key in ${file} is none of ${[...MESSAGE_ALGORITHMS.keys()].join(', ')}`,
  );
}

async function jwksIn(file: string): Promise<readonly JsonObject[]> {
  const text = (await fileContent(file)).toString();
  try {
    const value: unknown = JSON.parse(text);
    const keys = isObject(value) && Array.isArray(value['keys']) ? value['keys'] : [value];
    if (keys.every(isObject)) return keys;
  } catch {
    // The error is reported below.
  }
  throw new Failure(`${file} is neither a JWK nor a JWK Set`);
}
