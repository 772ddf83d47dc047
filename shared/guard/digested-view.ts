import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import type { RevocationView } from '#shared/stores/revocation/revocations.ts';
import { digestOf } from './revocation-page.ts';

/** A set of digests, asked by the identifiers themselves. Those of a token are digested once. */
export function digestedView(set: RevocationSet): RevocationView {
  const digested = new WeakMap<RevocableClaims, RevocableClaims>();

  function digestedClaims(claims: RevocableClaims): RevocableClaims {
    const known = digested.get(claims);
    if (known !== undefined) return known;
    const { jti, sub, client_id, grant_id } = claims;
    const made = {
      ...claims,
      jti: digestOf(jti),
      sub: digestOf(sub),
      client_id: digestOf(client_id),
      ...(grant_id !== undefined && { grant_id: digestOf(grant_id) }),
    };
    digested.set(claims, made);
    return made;
  }

  return {
    get epoch() {
      return set.epoch;
    },
    get raises() {
      return set.raises;
    },
    revokedBy: (claims) => set.revokedBy(digestedClaims(claims)),
    generation: (id) => set.generation(digestOf(id)),
    raisedSince: (id, raises) => set.raisedSince(digestOf(id), raises),
  };
}
