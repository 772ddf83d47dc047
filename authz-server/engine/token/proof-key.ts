import { decodeProtectedHeader } from 'jose';
import { errors } from 'oidc-provider';
import type { Context } from 'koa';
import { ALGORITHMS, importPublicJwk } from '#shared/jose/algorithms.ts';

type Next = () => Promise<unknown>;

/** The addresses whose requests may have a proof (RFC 9449 sections 5 and 10.1). */
const PROVED: ReadonlySet<string> = new Set(['/token', '/request']);

/**
 * Refuses a DPoP proof by a key of RSA that has no usual size, before the engine verifies it: its sender chooses the key, and
 * must not choose our work with it.
 */
export async function usualProofKey(ctx: Context, next: Next): Promise<void> {
  const proof = ctx.get('DPoP');
  if (proof !== '' && PROVED.has(ctx.path) && isUnusual(proof)) {
    throw new errors.InvalidDpopProof('a key of RSA has 2048 to 4096 bits');
  }
  await next();
}

function isUnusual(proof: string): boolean {
  const { alg, jwk } = headerOf(proof);
  const algorithm = ALGORITHMS.get(alg);
  if (algorithm === undefined || jwk?.kty !== 'RSA' || algorithm.kty !== 'RSA') return false;
  const { kty, n, e } = jwk;
  return importPublicJwk({ kty, n, e }, algorithm) === undefined;
}

/** The header; an empty one of what is no JWT, which the engine refuses. */
function headerOf(proof: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return {};
  }
}
