import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { KeyRing, KeySet } from '#shared/keys/signing-key-ring.ts';
import { STATEMENT_LIFE } from '#shared/stores/revocation/lifetime.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { identityOf, type Passed } from '../../space/identity-fields.ts';

/** The type of a JWT that marks it as a statement and nothing else (RFC 8725 section 3.11). */
export const STATEMENT_TYPE = 'gateway-identity+jwt';

export interface Statements {
  /**
   * Returns the field value about the admitted caller. Undefined: the caller has no name (PrivateToken, schemes: []).
   */
  of(passed: Passed, audience: string): Awaitable<string | undefined>;
}

export interface StatementsOptions {
  /** The resource server's origin. */
  readonly issuer: string;
  readonly ring: Pick<KeyRing, 'current' | 'refresh'>;
  readonly feed: Pick<RevocationFeed, 'onKeyRevoked'>;
  readonly clock: Clock;
  /** The most statements that are cached. */
  readonly capacity?: number;
}

interface Signer {
  readonly keys: KeySet;
  readonly kid: string;
  readonly key: KeyObject;
  /** The header in base64url. */
  readonly header: string;
}

interface Signed {
  readonly statement: string;
  readonly kid: string;
  /** The time of signing: milliseconds since the epoch, and of the monotonic clock. */
  readonly now: number;
  readonly monotonic: number;
}

/** Milliseconds for which a statement is reused. */
const REMEMBERED = 30_000;

/**
 * Signs statements for an application about the admitted caller (RFC 7519). Their claims are `sub`, `kind`, `name`,
 * `email`, `groups`, `scheme`, `scope` (RFC 8693 section 4.2) and `client_id` (section 4.3), without unknown ones.
 * They have no `jti`, since a statement is reused while it is young and its claims are the same. The caller is
 * authenticated first, each time.
 */
export function createStatements(options: StatementsOptions): Statements {
  const { issuer, ring, feed, clock, capacity = 4000 } = options;
  const recent = new RecentMap<Signed>(capacity);
  const revoked = new Set<string>();
  feed.onKeyRevoked((kid) => revoked.add(kid));
  let signer: Signer | undefined;

  function signerNow(): Signer {
    if (signer?.keys !== ring.current) signer = signerOf(ring.current);
    return signer;
  }

  /**
   * After the clock was set in either direction, a statement is signed again. So none is from the future, or valid for
   * longer than its life.
   */
  function isYoung(signed: Signed): boolean {
    const age = clock.now() - signed.now;
    const elapsed = clock.monotonic() - signed.monotonic;
    return age >= 0 && age < REMEMBERED && elapsed < REMEMBERED;
  }

  function give(claims: object): string {
    const { kid, key, header } = signerNow();
    const said = JSON.stringify(claims);
    const known = recent.get(said);
    if (known?.kid === kid && isYoung(known)) return known.statement;
    const now = clock.now();
    const iat = Math.floor(now / 1000);
    const input = `${header}.${encoded({ ...claims, iat, exp: iat + STATEMENT_LIFE })}`;
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
    const statement = `${input}.${signature.toString('base64url')}`;
    recent.set(said, { statement, kid, now, monotonic: clock.monotonic() });
    return statement;
  }

  return {
    of(passed, aud) {
      const { subject, name, email, groups, client, scopes, scheme } = identityOf(passed);
      if (subject === undefined) return undefined;
      const { kind } = passed.principal;
      const scope = scopes.length > 0 ? scopes.join(' ') : undefined;
      const claims = {
        iss: issuer,
        aud,
        sub: subject,
        kind,
        name,
        email,
        ...(groups.length > 0 && { groups }),
        scheme,
        scope,
        client_id: client,
      };
      // The feed reports a compromised key before the ring does.
      const renewed = revoked.has(signerNow().kid) ? ring.refresh() : undefined;
      return andThen(renewed, () => give(claims));
    },
  };
}

/** The signing key is the first. If this clock is behind, it is the key that will sign next. */
function signerOf(keys: KeySet): Signer {
  const [jwk] = keys.jwks;
  if (jwk === undefined) throw new StoreUnavailable('the store has no key of the gateway');
  const kid = String(jwk['kid']);
  const header = encoded({ alg: 'ES256', typ: STATEMENT_TYPE, kid });
  return { keys, kid, key: createPrivateKey({ key: { ...jwk }, format: 'jwk' }), header };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
