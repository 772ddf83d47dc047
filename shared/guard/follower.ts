import type { Clock } from '#shared/base/clock.ts';
import { type Fetch, fetchText, Unexpected } from './fetch-text.ts';
import type { LeasedFeedOptions } from './leased-feed.ts';
import { parsePage } from './revocation-page.ts';

const SCOPE = 'revocations:follow';
/** Of the life of a token, after which another one is fetched. */
const RENEWAL = 0.8;

export interface FollowerOptions {
  readonly issuer: string;
  /** Where it is reached. */
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

/** Asks for the revocations of an authorization server, as a client of it with a token that is always good. */
export function createFollower(options: FollowerOptions): LeasedFeedOptions['ask'] {
  const { issuer, issuerUrl, client, fetch, clock } = options;
  const path = '/revocations';
  let access: Access | undefined;

  /** RFC 6749 sections 2.3.1 and 4.4, RFC 8707. */
  async function fetchAccess(signal: AbortSignal): Promise<Access> {
    const sent = clock.monotonic();
    const answer: unknown = JSON.parse(
      await fetchText(fetch, `${issuerUrl}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`${encoded(client.id)}:${encoded(client.secret)}`)}`,
        },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: SCOPE,
          resource: issuer + path,
        }),
        signal,
      }),
    );
    const { access_token: token, expires_in: life } = (answer ?? {}) as Record<string, unknown>;
    if (typeof token !== 'string' || typeof life !== 'number') throw new Error('no access token');
    return { token, renewal: sent + life * 1000 * RENEWAL };
  }

  async function fetchPage(query: string, signal: AbortSignal): Promise<string> {
    if (access === undefined || clock.monotonic() >= access.renewal)
      access = await fetchAccess(signal);
    const headers = { authorization: `Bearer ${access.token}` };
    return fetchText(fetch, `${issuerUrl}${path}?${query}`, { headers, signal });
  }

  return async (after, wait, signal) => {
    const query = new URLSearchParams({ ...(after && { after }), wait: `${wait}` }).toString();
    const page = await fetchPage(query, signal).catch((error: unknown) => {
      if (!(error instanceof Unexpected) || error.status !== 401) throw error;
      // The token is not good any more: revoked, or of a store that was restored.
      access = undefined;
      return fetchPage(query, signal);
    });
    return parsePage(page);
  };
}

/** As in a form (RFC 6749 appendix B). */
const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
