import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Fetch, fetchText, Unexpected } from './fetch-text.ts';
import type { LeasedFeedOptions } from './leased-feed.ts';
import { parsePage } from './revocation-page.ts';

const SCOPE = 'revocations:follow';
const PATH = '/revocations';
/** The part of a token's life after which the follower fetches another token. */
const RENEWAL = 0.8;

export interface FollowerOptions {
  readonly issuer: string;
  /** The URL at which this process reaches the authorization server. */
  readonly issuerUrl: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly fetch: Fetch;
  readonly clock: Clock;
}

interface Access {
  readonly token: string;
  /** Milliseconds of the monotonic clock. */
  readonly renewal: number;
}

/** Fetches the revocations of an authorization server, as a client with a token that is renewed in time. */
export function createFollower(options: FollowerOptions): LeasedFeedOptions['ask'] {
  const { issuer, issuerUrl, client, fetch, clock } = options;
  let access: Access | undefined;
  let pending: Promise<Access> | undefined;

  /** RFC 6749 sections 2.3.1 and 4.4, RFC 8707. */
  async function fetchAccess(): Promise<Access> {
    const sent = clock.monotonic();
    const credentials = btoa(`${encoded(client.id)}:${encoded(client.secret)}`);
    const form = { grant_type: 'client_credentials', scope: SCOPE, resource: issuer + PATH };
    const text = await fetchText(fetch, `${issuerUrl}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams(form),
    });
    const answer = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
    const { access_token: token, expires_in: life } = answer;
    if (typeof token !== 'string' || typeof life !== 'number') throw new Error('no access token');
    return { token, renewal: sent + life * 1000 * RENEWAL };
  }

  async function renew(): Promise<Access> {
    try {
      access = await fetchAccess();
      return access;
    } finally {
      pending = undefined;
    }
  }

  /** Returns a valid token; the next one is fetched while the last is still valid. */
  function goodAccess(): Awaitable<Access> {
    if (access !== undefined && clock.monotonic() < access.renewal) return access;
    pending ??= renew();
    if (access === undefined) return pending;
    pending.catch(() => {}); // each request tries again until the last token is refused
    return access;
  }

  return async (after, wait, signal) => {
    const query = new URLSearchParams({ ...(after && { after }), wait: `${wait}` }).toString();
    const { token } = await goodAccess();
    const headers = { authorization: `Bearer ${token}` };
    try {
      return parsePage(await fetchText(fetch, `${issuerUrl}${PATH}?${query}`, { headers, signal }));
    } catch (error) {
      // The token was revoked, or the store was restored: the next request fetches another token.
      if (error instanceof Unexpected && error.status === 401) access = undefined;
      throw error;
    }
  };
}

/** Encodes a text as in a form (RFC 6749 appendix B). */
const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
