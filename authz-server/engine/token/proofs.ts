import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from 'jose';
import { errors } from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { keyInDirectory } from '#shared/people/key-purposes.ts';
import { proofMemory, TOKEN_PROOF_WINDOW } from '#shared/jose/proof-life.ts';
import type { AuthzServer } from '../../base/server.ts';
import type { EngineRequest } from '../refresh/engine-request.ts';

/** The engine's routes that take proofs. */
const PROVED = new Set(['token', 'pushed_authorization_request']);

/**
 * Refuses a refresh without a DPoP proof if the refresh token came with one: what began bound to a key stays bound. The
 * refresh token of a confidential client is good with another key (RFC 9449 section 5).
 *
 * Refuses a replayed DPoP proof at the token endpoint; at resources shared/auth/schemes/dpop/dpop.ts does. A proof is
 * good for one request, no matter who sends it (RFC 9449 section 11.1). The engine has checked it
 * and the client by now, and nothing was used up yet: a proof that comes again costs nobody a code. The key of a
 * scheme of the resource server makes no proofs (RFC 9729 section 8).
 */
export function proofs({ stores }: Pick<AuthzServer, 'stores'>) {
  return async (ctx: KoaContextWithOIDC, { found }: EngineRequest): Promise<void> => {
    if (!PROVED.has(ctx.oidc.route)) return;
    const proof = ctx.get('DPoP');
    if (proof === '') {
      if ([...found.values()].every(({ proved }) => proved === undefined)) return;
      throw new errors.InvalidGrant('the refresh token came with a DPoP proof: send one again');
    }
    const { jwk = { kty: '' } } = decodeProtectedHeader(proof);
    if ((await keyInDirectory(stores, jwk)) !== undefined) {
      throw new errors.InvalidDpopProof('the key of the DPoP proof is used for something else');
    }
    const key = `${await calculateJwkThumbprint(jwk)} ${decodeJwt(proof).jti}`;
    if (await stores.replay.unique('dpop', key, proofMemory(2 * TOKEN_PROOF_WINDOW))) return;
    throw new errors.InvalidDpopProof('the DPoP proof was used before');
  };
}
