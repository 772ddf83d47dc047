import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from 'jose';
import { errors } from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { AuthzServer } from '../server.ts';

/** Seconds for which a proof is remembered: its `iat` may lie 300 s in the future as well as in the past. */
const PROOF_SECONDS = 660;
/** The engine's routes that take proofs. */
const PROVED = new Set(['token', 'pushed_authorization_request']);

/**
 * A DPoP proof is good for one request, whoever sends it (RFC 9449 section 11.1). The engine has checked it
 * and the client by now, and nothing was used up yet: a proof that comes again costs nobody a code.
 */
export function proofs({ stores }: Pick<AuthzServer, 'stores'>) {
  return async (ctx: KoaContextWithOIDC): Promise<void> => {
    const proof = ctx.get('DPoP');
    if (proof === '' || !PROVED.has(ctx.oidc.route)) return;
    const { jwk = { kty: '' } } = decodeProtectedHeader(proof);
    const key = `${await calculateJwkThumbprint(jwk)} ${decodeJwt(proof).jti}`;
    if (await stores.replay.unique('dpop', key, PROOF_SECONDS)) return;
    throw new errors.InvalidDpopProof('the DPoP proof was used before');
  };
}
