import { subjectOf } from '#shared/auth/person.ts';
import type { Principal as Admittee } from '#shared/auth/scheme.ts';
import { parseCompactJws } from '#shared/jose/compact-jws.ts';
import type { Claims, Principal } from './principal.ts';

const NOTHING: ReadonlySet<string> = new Set();

function nobody(): never {
  throw new TypeError(
    'this is a CORS preflight, which shows no token: answer it before you read who asks',
  );
}

/** The principal of a CORS preflight. Its missing members are getters of the prototype, so that it can be printed. */
class Anonymous implements Principal {
  readonly kind = 'anonymous';
  readonly scopes = NOTHING;
  get id(): never {
    return nobody();
  }
  get client(): never {
    return nobody();
  }
  get token(): never {
    return nobody();
  }
  get claims(): never {
    return nobody();
  }
}

export const ANONYMOUS: Principal = new Anonymous();

/** Returns the principal of a token, which is given as it was sent. Its claims are parsed on first use. */
export function principalOf(admitted: Admittee, credentials: string): Principal {
  const { kind, scopes = NOTHING, claims = {} } = admitted;
  const { client_id: client, jti: token } = claims;
  const id = subjectOf(admitted);
  if (kind === 'anonymous' || id === undefined || client === undefined || token === undefined) {
    throw new TypeError('a token names who stands behind it');
  }
  return {
    kind,
    id,
    client,
    scopes,
    token,
    get claims() {
      const jws = parseCompactJws(credentials.replace(/^\S+ +/, ''));
      if (!jws.ok) throw new TypeError(jws.reason);
      return jws.payload as Claims;
    },
  };
}
