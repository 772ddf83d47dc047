import { createHash } from 'node:crypto';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import type { Nonces } from '../../credentials/nonces.ts';
import type { AuthRequest, Verdict } from '../../scheme.ts';
import type { DigestParams } from './params.ts';
import { isRequestUri } from './request-uri.ts';
import type { Qop, Signed } from './response.ts';

export interface OfferOptions {
  readonly realm: string;
  /** A challenge for each, in this order. */
  readonly algorithms: readonly DigestAlgorithmName[];
  readonly qop: readonly Qop[];
  /** Asks clients to send a hash of the name (RFC 7616 section 3.4.4). */
  readonly userhash: boolean;
  /** URIs that the same credentials are for; none at a proxy (section 3.3). */
  readonly domain?: readonly string[];
  /** No two of them may be equal: uses are counted for each. */
  readonly nonces: Nonces;
}

/** Credentials that fit what was offered: all but the secret has been looked at. */
export interface Claim {
  readonly username: string;
  readonly userhash: boolean;
  readonly algorithm: DigestAlgorithmName;
  readonly signed: Signed;
  readonly count: number;
  readonly response: string;
  readonly stale: boolean;
}

export interface Offer {
  /** RFC 7616 section 3.3, one for each algorithm; `stale`: only the nonce was wrong. */
  challenges(request: AuthRequest, stale?: boolean): Challenge[];
  /** Takes only what was offered, or whoever is in the way could choose the weakest. */
  claim(params: DigestParams, request: AuthRequest): Claim | Verdict;
  /** `nextnonce`, once the client should change (section 3.5). */
  nextNonce(claim: Claim): string | undefined;
}

export function createOffer(options: OfferOptions): Offer {
  const { realm, algorithms, qop, userhash, domain, nonces } = options;
  /** The same in all processes. It carries nothing: what there is to say is in the nonce (section 3.6). */
  const opaque = createHash('sha256').update(realm).digest('base64url');
  const contextOf = (algorithm: DigestAlgorithmName) => `${algorithm} ${realm}`;
  /** Where the content does not come through, it cannot be protected. */
  const qopAt = ({ content }: AuthRequest) =>
    content === undefined ? qop.filter((one) => one !== 'auth-int') : qop;

  return {
    challenges(request, stale = false) {
      const offered = qopAt(request);
      if (offered.length === 0) return [];
      return algorithms.map((algorithm) => ({
        scheme: 'Digest',
        params: {
          realm,
          ...(domain && { domain: domain.join(' ') }),
          nonce: nonces.issue(contextOf(algorithm)),
          opaque,
          ...(stale && { stale: 'true' }),
          algorithm,
          qop: offered.join(','), // python-requests looks for `auth` between commas alone
          charset: 'UTF-8',
          ...(userhash && { userhash: 'true' }),
        },
      }));
    },

    claim(params, request) {
      const { username, uri, nonce, response, protection } = params;
      const algorithm = algorithms.find((name) => name === params.algorithm);
      if (algorithm === undefined) return refused('algorithm was not offered');
      if (protection === undefined) return refused('no qop');
      const { nc, cnonce, count } = protection;
      const chosen = qopAt(request).find((name) => name === protection.qop);
      if (chosen === undefined) return refused('qop was not offered');
      if (params.userhash && !userhash) return refused('userhash was not offered');
      if (params.realm !== realm) return refused('another realm');
      // Section 3.4 wants it back, and some clients leave it out; what it protects is in the nonce.
      if (params.opaque !== undefined && params.opaque !== opaque) {
        return refused('opaque is not ours');
      }
      if (!isRequestUri(uri, request)) {
        return { ...refused('uri is not the request target'), as: 'malformed' };
      }
      const state = nonces.check(nonce, contextOf(algorithm));
      if (state === 'unknown') return refused('nonce is not ours');
      const signed = { method: request.method, uri, nonce, nc, cnonce, qop: chosen };
      const stale = state === 'stale';
      return { username, userhash: params.userhash, algorithm, signed, count, response, stale };
    },

    // With -sess a client may hold on to A1, which was made with the nonce that it has now.
    nextNonce: ({ algorithm, signed }) =>
      !DIGEST_ALGORITHMS[algorithm].session && nonces.ending(signed.nonce)
        ? nonces.issue(contextOf(algorithm))
        : undefined,
  };
}

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;
