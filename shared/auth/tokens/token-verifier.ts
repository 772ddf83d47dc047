import type { KeyObject } from 'node:crypto';
import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import {
  checkAccessToken,
  expiredAt,
  namesAudience,
  otherAudience,
  parseAccessToken,
  type ParsedToken,
} from '#shared/jose/access-token.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import type { AccessTokenClaims, KeyBinding } from '#shared/jose/access-token-claims.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type IssuerKeys, KeysUnavailable } from './issuer-keys.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import type { Grounds, Principal } from '../scheme.ts';

/** A token whose signature and claims were verified once, with this key. */
interface Verified {
  readonly key: KeyObject;
  readonly algorithm: JwsAlgorithm;
  readonly claims: AccessTokenClaims & { readonly kid: string };
  readonly principal: Principal;
}

interface Asked {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly revocations: RevocationView;
}

export type TokenVerdict =
  | {
      readonly kind: 'verified';
      readonly principal: Principal;
      /** The key that the token is bound to; the same object each time. Undefined if the token is bound to no key. */
      readonly cnf: KeyBinding | undefined;
      /** The grounds end at `exp`, without the clock tolerance that a request has. */
      readonly grounds: Grounds;
    }
  | (Refusal & { readonly kind: 'refused' })
  | (Refusal & {
      readonly kind: 'unavailable';
      readonly status: 503;
      readonly retryAfter: number;
    });

export interface TokenVerifier {
  /** Verifies a token. The caller has to check scope, method, and the proof of the key in `cnf`. */
  verify(token: string, audiences: readonly string[]): Awaitable<TokenVerdict>;
}

export interface TokenVerifierOptions {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly feed: Pick<RevocationFeed, 'latest'>;
  readonly clock: Clock;
  /** Seconds. */
  readonly skew: number;
  /** Most tokens that are remembered. */
  readonly capacity?: number;
  /** Called when the store has lost its memory, including the keys that signed tokens so far. */
  readonly onNewEpoch?: () => void;
}

/**
 * Returns the identifiers of a space that a token may name: its URL and, for a bare origin, also the URL without the
 * final slash, since URL parsers add one.
 */
export function audiencesOf(spaceUrl: string): readonly string[] {
  const { origin, pathname } = new URL(spaceUrl);
  return pathname === '/' ? [origin, `${origin}/`] : [spaceUrl];
}

/**
 * Returns the principal of a token. `sub_gen` marks a person: a `sub` alone may look like a client_id (RFC 9068
 * section 5).
 */
function principalOf(token: AccessTokenClaims): Principal {
  const { iss, sub, sub_gen, client_id, jti, grant_id, scope, openid_scope } = token;
  const { acr, auth_time: authTime } = token;
  const claims = {
    sub,
    client_id,
    jti,
    ...(grant_id !== undefined && { grant_id }),
    ...(openid_scope !== undefined && { openid_scope }),
  };
  const known = { scopes: parseScope(scope), claims };
  if (sub_gen === undefined) return { kind: 'application', id: client_id, ...known };
  const authentication = {
    ...(acr !== undefined && { acr }),
    ...(authTime !== undefined && { authTime }),
  };
  return { kind: 'person', realm: iss, name: sub, ...known, authentication };
}

const unavailable = (why: string, retryAfter: number): TokenVerdict => ({
  kind: 'unavailable',
  ...refuseSpace('unavailable', { why }),
  status: 503,
  retryAfter,
});

/**
 * Creates a verifier of JWT access tokens (RFC 9068 section 4). It remembers accepted tokens, by the whole token, and
 * never a failure. At every use it checks audience, expiry, revocation, and that the key is still published.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { issuer, keys, feed, clock, skew, capacity = 20_000, onNewEpoch } = options;
  const seen = new RecentMap<Verified>(capacity);
  let epoch: string | undefined;

  function follow(current: string | undefined): void {
    if (epoch !== undefined && epoch !== current) onNewEpoch?.();
    epoch = current;
  }

  function admit({ claims, principal }: Verified, asked: Asked): TokenVerdict {
    const { token, audiences, revocations } = asked;
    if (!namesAudience(claims.aud, audiences)) {
      return { kind: 'refused', ...otherAudience(claims.aud, audiences) };
    }
    if (epochSeconds(clock) >= claims.exp + skew) {
      return { kind: 'refused', ...expiredAt(claims.exp) };
    }
    const revokedBy = revocations.revokedBy(claims);
    if (revokedBy !== undefined) {
      return { kind: 'refused', ...refuse('token-revoked', { by: revokedBy }) };
    }
    const grounds: Grounds = {
      of: `token ${claims.jti}`,
      end: () =>
        andThen(feed.latest(), (view) => {
          if (view.revokedBy(claims) !== undefined) return 'revoked';
          if (epochSeconds(clock) >= claims.exp) return 'expired';
          return andThen(verify(token, audiences), endOf);
        }),
    };
    return { kind: 'verified', principal, cnf: claims.cnf, grounds };
  }

  function examine(asked: Asked): Awaitable<TokenVerdict> {
    const parsed = parseAccessToken(asked.token);
    if (!parsed.ok) return refusedBy(parsed);
    return andThen(keys.key(parsed.kid, parsed.algorithm), (key) => examineBy(key, parsed, asked));
  }

  function examineBy(key: KeyObject | undefined, parsed: ParsedToken, asked: Asked): TokenVerdict {
    const { token, audiences } = asked;
    if (key === undefined) return { kind: 'refused', ...refuse('token-key') };
    const now = epochSeconds(clock);
    const checked = checkAccessToken(parsed, key, { issuer, audiences, now, skew });
    if (!checked.ok) return refusedBy(checked);
    const claims = { ...checked.claims, kid: parsed.kid };
    const { algorithm } = parsed;
    const verified = { key, algorithm, claims, principal: principalOf(claims) };
    seen.set(token, verified);
    return admit(verified, asked);
  }

  function judge(asked: Asked): Awaitable<TokenVerdict> {
    follow(asked.revocations.epoch);
    const known = seen.get(asked.token);
    if (known === undefined) return examine(asked);
    return andThen(keys.key(known.claims.kid, known.algorithm), (key) =>
      key === known.key ? admit(known, asked) : examine(asked),
    );
  }

  function verify(token: string, audiences: readonly string[]): Awaitable<TokenVerdict> {
    return recover<TokenVerdict>(
      // The feed is read first, since it may report a compromised key, whose replacement has to be fetched.
      () => andThen(feed.latest(), (revocations) => judge({ token, audiences, revocations })),
      silent,
    );
  }

  return { verify };
}

const refusedBy = ({ refusal, reason }: Refusal): TokenVerdict => ({
  kind: 'refused',
  refusal,
  reason,
});

function endOf(verdict: TokenVerdict): 'revoked' | undefined {
  if (verdict.kind === 'unavailable') throw new StoreUnavailable(verdict.reason);
  return verdict.kind === 'verified' ? undefined : 'revoked';
}

function silent(error: unknown): TokenVerdict {
  if (error instanceof StoreUnavailable) return unavailable(error.message, 1);
  if (error instanceof KeysUnavailable) return unavailable(error.message, error.retryAfter);
  throw error;
}
