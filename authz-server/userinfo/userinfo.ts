import type { KeyObject } from 'node:crypto';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from '#shared/auth/scheme.ts';
import { audiencesOf, createTokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { claimsOfScopes } from '../base/claims-request.ts';
import { clientOrigins } from '../base/client-origins.ts';
import { type Fields, HttpError, UNSTORED } from '#shared/http/answer.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { toldClaims } from '#shared/people/told-claims.ts';
import { readableBy } from '#shared/server/endpoints/cors.ts';
import type { ByToken } from '#shared/server/endpoints/endpoint.ts';
import { personTokens } from './person-tokens.ts';
import type { AuthzServer } from '../base/server.ts';

export type UserinfoServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'feed' | 'master' | 'clock' | 'longestLife' | 'directory'
>;
type PublicKeys = (kid: string) => Promise<KeyObject | undefined>;

/**
 * Serves the UserInfo endpoint (OpenID Connect Core 1.0 section 5.3) for the access tokens of any resource, which the
 * engine does not accept.
 */
export function userinfo(server: UserinfoServer, publicKey: PublicKeys): ByToken {
  const { config, stores, directory } = server;

  /** Only scripts of the token's client may read the answer. */
  async function readers(principal: Principal, origin: string | undefined): Promise<Fields> {
    if (origin === undefined) return {};
    const client = await stores.clients.get(principal.claims?.['client_id'] ?? '');
    if (client === undefined || !clientOrigins(client).has(origin)) return {};
    return readableBy(origin);
  }

  /**
   * Returns the current claims, not those at the time of the token's issue (OpenID Connect Core 1.0 sections 5.1 and
   * 5.4).
   */
  async function told({ claims = {}, scopes = new Set() }: Principal) {
    const { sub = '', client_id = '', openid_claims } = claims;
    const [person, client] = await Promise.all([
      directory.find(sub),
      stores.clients.get(client_id),
    ]);
    const ofClient = parseScope(client?.scope);
    const allowed = ofClient.intersection(scopes);
    const named = parseScope(openid_claims).intersection(new Set(claimsOfScopes(ofClient)));
    return { ...(person && toldClaims(person, allowed, client?.claim_rules, named)), sub };
  }

  return {
    space: userinfoSpace(server, publicKey),
    origin: config.issuer,
    readContent: readForm,
    async answer({ headers }, { principal }) {
      const readable = await readers(principal, headers.origin);
      return {
        status: 200,
        fields: { ...UNSTORED, ...readable, 'Content-Type': 'application/json' },
        body: JSON.stringify(await told(principal)),
      };
    },
  };
}

const FORM = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;

/** Octets of the longest form. A token of this server is shorter than 8 KiB. */
const LONGEST_FORM = 16_384;

/**
 * Reads the token of a form (RFC 6750 section 2.2) as if it stood in the field Authorization, for Bearer alone. Throws
 * `BadRequest` if the request has both, or two tokens, and `HttpError` 413.
 */
async function readForm(request: AnyRequest): Promise<void> {
  const { method, rawHeaders, headers } = request;
  if (method !== 'POST' || !FORM.test(single(rawHeaders, 'content-type') ?? '')) return;
  const content = await wholeContent(
    request,
    LONGEST_FORM,
    () => new HttpError(413, `The form has at most ${LONGEST_FORM} octets.`),
  );
  const tokens = new URLSearchParams(content.toString('latin1')).getAll('access_token');
  const [token] = tokens;
  if (token === undefined) return;
  if (tokens.length > 1 || headers.authorization !== undefined) {
    throw new BadRequest('Send one token: in the field Authorization, or once in the form.');
  }
  headers.authorization = `Bearer ${token}`;
  rawHeaders.push('Authorization', headers.authorization);
}

/** Returns the protection space of the userinfo endpoint, which admits tokens of grants with `openid`. */
function userinfoSpace(server: UserinfoServer, publicKey: PublicKeys): ProtectionSpace {
  const { config, stores, feed, master, clock, directory } = server;
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const verifier = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });
  const tokens = personTokens({ tokens: verifier, access: server, directory });
  const { bearer, dpop } = oauthSchemes({ tokens, proofs: stores.proofs, master, clock });
  const scopes = () => ['openid'];
  const audiences = everySpace(config).flatMap(({ url }) => audiencesOf(url));
  const oauth = { realm: issuer, audiences, scopes };
  return {
    at: ORIGIN,
    realm: issuer,
    schemes: [bearer(oauth), dpop({ ...oauth, nonce: settings.nonce })],
    scopes,
  };
}
