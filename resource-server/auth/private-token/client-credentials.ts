import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import type { Clock } from '#shared/base/clock.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import type { Log } from '#shared/base/log.ts';
import { jsonOf, type Reply, type Send } from '#shared/client/send.ts';

/** Access tokens for one resource. */
export interface AccessTokens {
  /**
   * Resolves to a token that does not expire soon and is not `refused`. Concurrent callers share one request. Throws
   * `KeysUnavailable` if the authorization server issues no token, or has just replaced a refused one.
   */
  token(refused?: string): Promise<string>;
}

export interface ClientCredentials {
  /** The URL of the token endpoint. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  readonly resource: string;
  readonly scope: string;
  readonly send: Send;
  readonly clock: Clock;
  readonly log: Log;
}

interface AccessToken {
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** Seconds before the next attempt, after the server issued no token or a refused one. */
const RETRY = 1;
/** Seconds before its expiry at which a token is no longer used. For a short-lived token, half of its life. */
const MARGIN = 30;

/** Gets access tokens by client credentials (RFC 6749 section 4.4) and keeps the newest. */
export function clientCredentials(options: ClientCredentials): AccessTokens {
  const { url, clientId, secret, resource, scope, send, clock, log } = options;
  const message = {
    method: 'POST',
    url,
    fields: {
      // Neither value contains a character that RFC 6749 section 2.3.1 would encode.
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource,
      scope,
    }).toString(),
  } as const;
  let kept: AccessToken | undefined;
  /**
   * The time at which the server issued no token, or replaced a refused token. The replacement may be refused as well.
   */
  let pausedAt = -Infinity;
  let pending: Promise<string> | undefined;

  const within = (since: number, until: number) => since <= clock.now() && clock.now() < until;

  async function ask(refused?: string): Promise<string> {
    const since = clock.now();
    try {
      const { value, seconds } = accessToken(await send(message));
      kept = { value, since, until: since + Math.max(seconds - MARGIN, seconds / 2) * 1000 };
      return value;
    } catch (error) {
      pausedAt = clock.now();
      if (kept?.value === refused) kept = undefined;
      log.warn('private-token.access-token', { url, reason: String(error) });
      throw new KeysUnavailable(RETRY);
    }
  }

  return {
    async token(refused) {
      if (kept && kept.value !== refused && within(kept.since, kept.until)) return kept.value;
      if (pending !== undefined) return pending;
      if (within(pausedAt, pausedAt + RETRY * 1000)) throw new KeysUnavailable(RETRY);
      if (refused !== undefined) pausedAt = clock.now();
      pending = ask(refused).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
}

/** Reads a token response (RFC 6749 section 5.1). */
function accessToken(reply: Reply) {
  if (reply.status !== 200) throw new Error(`the token endpoint answered ${reply.status}`);
  const document = jsonOf(reply);
  if (isObject(document)) {
    const { access_token: value, token_type: type, expires_in: seconds } = document;
    const bearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
    if (bearer && isB64Token(value) && typeof seconds === 'number' && seconds > 0) {
      return { value, seconds };
    }
  }
  throw new Error('the token endpoint answered with something else than a Bearer token');
}

/** True if the value may follow `Bearer` (RFC 6750 section 2.1). */
function isB64Token(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._~+/-]+=*$/.test(value);
}
