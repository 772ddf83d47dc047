import { said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';
import { CLAIMS_OF_SCOPES } from './claims.ts';

/**
 * Claims by which a server recognises a token, its person or its rights, by what defines them. No rule sets them.
 * `roles` and `entitlements` (RFC 9068 section 2.2.3.1) are not among them: they are what a rule is for.
 */
const DEFINED = {
  'RFC 7519 section 4.1': 'iss sub aud exp nbf iat jti',
  'OpenID Connect Core 1.0 sections 2, 3.3.2.11 and 7.4':
    'nonce auth_time acr amr azp at_hash c_hash sub_jwk',
  'Financial-grade API 1.0 part 2 section 5.1': 's_hash',
  'OpenID Connect Back-Channel Logout 1.0 section 2.1': 'sid',
  'OpenID Connect Core 1.0 section 5.1: this server alone confirms an address, and no number':
    'email_verified phone_number_verified',
  'RFC 8693 section 4': 'act may_act scope client_id',
  'RFC 9396 section 9.1': 'authorization_details',
  'RFC 7800 section 3.1': 'cnf',
  'RFC 9449 section 4.2': 'htm htu ath',
  'RFC 8417 section 2.2': 'events toe txn',
  'RFC 7662 section 2.2': 'active token_type',
  'RFC 9701 section 5': 'token_introspection',
  'RFC 9635 section 8': 'access',
  'this server': 'client_gen sub_gen epoch grant_id openid_scope openid_claims chain',
  'other servers, for scope': 'scp',
  'programs in JavaScript': `prototype ${Object.getOwnPropertyNames(Object.prototype).join(' ')}`,
};

const RESERVED = new Set(Object.values(DEFINED).join(' ').toLowerCase().split(' '));

const NAME = /^[A-Za-z][\w.:/-]{0,127}$/;

/** The claims that scopes tell, too. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(CLAIMS_OF_SCOPES).flat());

/**
 * Returns the mistake if no rule may set the claim. Some programs ignore the case of names (Go's encoding/json), so
 * every spelling of a reserved name is reserved, and a claim of a scope is only there in its own spelling.
 */
export function claimMistake(claim: string): Words | undefined {
  if (!NAME.test(claim)) return said('claim-name');
  const lower = claim.toLowerCase();
  if (RESERVED.has(lower)) return said('claim-reserved', { claim });
  if (lower !== claim && KNOWN.has(lower)) return said('claim-known', { claim, known: lower });
  return undefined;
}
