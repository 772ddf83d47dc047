import { cookiesNamed } from '#shared/http/cookies.ts';
import { isEnough, type SecondFactorRule } from '#shared/people/second-factor/need.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import type { About, AuthRequest, Grounds, Scheme } from '../../scheme.ts';
import { cookieName } from './cookie.ts';
import type { SessionRecord, Sessions } from './sessions.ts';

export interface SessionSpace {
  readonly url: string;
  readonly realm: string;
  /** Seconds without a request after which a session ends. */
  readonly idle: number;
}

export interface SessionOptions {
  readonly space: SessionSpace;
  readonly sessions: Sessions;
  readonly feed: Pick<RevocationFeed, 'latest'>;
  readonly about: (id: string) => Promise<About | undefined>;
  readonly secondFactor: SecondFactorRule;
}

/** Matches a secret: 256 bits in base64url. */
const SECRET = /^[\w-]{43}$/;

/** Returns the secret that a browser sends for a space; undefined if no cookie has the form of a secret. */
export function shownSecret(
  { url }: Pick<SessionSpace, 'url'>,
  request: Pick<AuthRequest, 'cookies'>,
): string | undefined {
  const values = cookiesNamed(request.cookies, cookieName(url, 'session'));
  // If there are two cookies of one name, another host has set one of them (RFC 6265 section 8.6).
  return values.length === 1 && SECRET.test(values[0] ?? '') ? values[0] : undefined;
}

/**
 * Makes the scheme of sessions: an opaque cookie of a browser that signed in here. It is not an HTTP authentication
 * scheme, so no challenge announces it. If the token with which the session began is revoked, the next request is
 * refused.
 */
export function session({ space, sessions, feed, about, secondFactor }: SessionOptions): Scheme {
  const { url, realm, idle } = space;

  /** Returns why a session has ended; undefined if it has not. */
  async function endOf({ claims, until, ...record }: SessionRecord, now: number) {
    if (record.space !== url) return refuse('session-space');
    if (now >= until) return refuse('session-over');
    const by = (await feed.latest()).revokedBy(claims);
    return by && refuse('session-revoked', { by });
  }

  /**
   * Returns the grounds of a session. If the store no longer has it, only its end time shows whether it expired or
   * was revoked.
   */
  function groundsOf(secret: string, found: SessionRecord): Grounds {
    let known = { ...found, used: sessions.now() };
    return {
      of: `session ${secret}`,
      async end() {
        if ((await feed.latest()).revokedBy(found.claims)) return 'revoked';
        const record = await sessions.find(secret);
        known = record ?? known;
        const over = sessions.now() >= Math.min(known.until, known.used + idle * 1000);
        if (record === undefined) return over ? 'expired' : 'revoked';
        return sessions.now() >= record.until ? 'expired' : undefined;
      },
    };
  }

  return {
    name: 'Session',
    ambient: true,
    yields: true,

    locate: (request) =>
      cookiesNamed(request.cookies, cookieName(url, 'session')).length > 0
        ? { scheme: 'session', rest: '' }
        : undefined,

    challenge: () => [],

    async authenticate(_credentials, request) {
      const secret = shownSecret(space, request);
      if (secret === undefined) return { kind: 'refused', ...refuse('session-cookie') };
      const found = await sessions.find(secret);
      if (found === undefined) return { kind: 'refused', ...refuse('session-unknown') };
      const end = await endOf(found, sessions.now());
      if (end !== undefined) {
        await sessions.remove(secret);
        return { kind: 'refused', ...end };
      }
      const person = await about(found.accountId);
      if (person === undefined) return { kind: 'refused', ...refuseSpace('not-in-directory') };
      if (!isEnough(secondFactor, person.groups, found.acr))
        return { kind: 'refused', ...refuse('session-second-factor') };
      await sessions.touch(secret, found, idle);
      const { accountId: sub, grantId: grant_id, acr, auth_time: authTime } = found;
      return {
        kind: 'granted',
        principal: {
          kind: 'person',
          realm,
          name: person.name,
          claims: { sub, grant_id },
          about: person,
          authentication: {
            ...(acr !== undefined && { acr }),
            ...(authTime !== undefined && { authTime }),
          },
        },
        grounds: groundsOf(secret, found),
      };
    },
  };
}
