import { createHash } from 'node:crypto';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Nonces } from '../../credentials/nonces.ts';
import type { AuthRequest, Verdict } from '../../scheme.ts';
import type { DigestParams } from './params.ts';
import { isRequestUri } from './request-uri.ts';
import type { Qop, Signed } from './response.ts';

export interface OfferOptions {
  readonly realm: string;
  /** Algorithms, each with a challenge of its own, in this order. */
  readonly algorithms: readonly DigestAlgorithmName[];
  readonly qop: readonly Qop[];
  /** True if clients are asked to send a hash of the name (RFC 7616 section 3.4.4). */
  readonly userhash: boolean;
  /** URIs for which the same credentials are valid; absent at a proxy (section 3.3). */
  readonly domain?: readonly string[];
  /** Issues nonces that all differ, since the uses of each nonce are counted. */
  readonly nonces: Nonces;
}

/** The parts of a request that credentials cover. */
export type Claimed = Pick<AuthRequest, 'method' | 'target' | 'origin' | 'content'>;

/** Credentials that match the offer; everything but the secret has been checked. */
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
  /**
   * Returns a challenge for each algorithm (RFC 7616 section 3.3). `stale`: the credentials failed only because of
   * the nonce.
   */
  challenges(request: AuthRequest, stale?: boolean): Challenge[];
  /** Accepts only what the server offered; otherwise an attacker in the middle could choose the weakest algorithm. */
  claim(params: DigestParams, request: Claimed): Claim | Verdict;
  /** Returns `nextnonce` when the client should change its nonce (section 3.5). */
  nextNonce(claim: Claim): string | undefined;
}

export function createOffer(options: OfferOptions): Offer {
  const { realm, algorithms, qop, userhash, domain, nonces } = options;
  /**
   * The value of `opaque`, the same in all processes. It carries no data, since the nonce carries all of it (section
   * 3.6).
   */
  const opaque = createHash('sha256').update(realm).digest('base64url');
  const contextOf = (algorithm: DigestAlgorithmName) => `${algorithm} ${realm}`;
  /**
   * Returns the qualities of protection on offer. At an endpoint that does not get the content, auth-int is not
   * offered.
   */
  const qopAt = ({ content }: Pick<AuthRequest, 'content'>) =>
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
          qop: offered.join(','), // python-requests finds `auth` only if it is an item of its own between commas
          charset: 'UTF-8',
          ...(userhash && { userhash: 'true' }),
        },
      }));
    },

    claim(params, request) {
      const { username, uri, nonce, response, protection } = params;
      const algorithm = algorithms.find((name) => name === params.algorithm);
      if (algorithm === undefined)
        return {
          kind: 'refused',
          ...refuse('digest-algorithm', { offered: algorithms.join(' or ') }),
        };
      if (protection === undefined)
        return {
          kind: 'refused',
          ...refuse('digest-no-qop', { offered: qopAt(request).join(' or ') }),
        };
      const { nc, cnonce, count } = protection;
      const chosen = qopAt(request).find((name) => name === protection.qop);
      if (chosen === undefined)
        return {
          kind: 'refused',
          ...refuse('digest-qop', { offered: qopAt(request).join(' or ') }),
        };
      if (params.userhash && !userhash) return { kind: 'refused', ...refuse('digest-userhash') };
      if (params.realm !== realm) return { kind: 'refused', ...refuse('digest-realm', { realm }) };
      // Section 3.4 requires clients to return `opaque`, but some omit it. The nonce already identifies the server, so
      // an absent `opaque` is accepted.
      if (params.opaque !== undefined && params.opaque !== opaque) {
        return { kind: 'refused', ...refuse('digest-opaque') };
      }
      if (!isRequestUri(uri, request)) {
        return { kind: 'refused', as: 'malformed', ...refuse('digest-uri') };
      }
      const state = nonces.check(nonce, contextOf(algorithm));
      if (state === 'unknown') return { kind: 'refused', ...refuse('digest-nonce') };
      const signed = { method: request.method, uri, nonce, nc, cnonce, qop: chosen };
      const stale = state === 'stale';
      return { username, userhash: params.userhash, algorithm, signed, count, response, stale };
    },

    // With -sess a client may keep its A1, which contains its present nonce, so it gets no next nonce.
    nextNonce: ({ algorithm, signed }) =>
      !DIGEST_ALGORITHMS[algorithm].session && nonces.ending(signed.nonce)
        ? nonces.issue(contextOf(algorithm))
        : undefined,
  };
}
