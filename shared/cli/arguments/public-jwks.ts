import { z } from 'zod';
import { ALGORITHMS, importPublicJwk } from '#shared/jose/algorithms.ts';
import { holdsPrivateKey } from '#shared/jose/private-members.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Failure } from './command.ts';
import { fileContent } from './read-file.ts';

const publicJwk = z
  .looseObject({ kid: z.string().min(1).optional() })
  .refine((jwk) => !holdsPrivateKey(jwk), {
    error: 'holds a private key: give its public part only',
  })
  .refine((jwk) => [...ALGORITHMS.values()].some((alg) => importPublicJwk(jwk, alg)), {
    error: `is not a public key for ${[...ALGORITHMS.keys()].join(', ')}`,
  });

const publicJwks = z.strictObject({ keys: z.array(publicJwk).min(1).max(20) });

/** A JWK Set (RFC 7517 section 5) of public keys from a file. Throws `Failure` that says what is wrong. */
export async function readPublicJwks(file: string): Promise<NonNullable<ClientRecord['jwks']>> {
  const text = (await fileContent(file)).toString();
  const { data, error } = publicJwks.safeParse(parse(text));
  if (data === undefined) {
    const reasons = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Failure(`${file} is not a JWK Set of public keys: ${reasons.join('; ')}`);
  }
  return data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
