import { epochSeconds } from '#shared/base/clock.ts';
import type { Assurance } from '#shared/people/access/assurance.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import { claimsOf } from '#shared/people/claims.ts';
import { ruledClaims } from '#shared/people/told-claims.ts';
import type { Person } from '#shared/people/directory.ts';
import type { SubjectRequest } from './grant-request.ts';
import { signedToken } from '../base/signed-token.ts';
import type { GnapServer } from './server.ts';

/** Seconds. */
const ID_TOKEN_LIFE = 3600;

/** Returns the identifier of a person in a format of RFC 9493, or undefined if there is none. */
type SubjectIdentifier = (issuer: string, person: Person) => object | undefined;

/** The formats of identifiers, with the scope that a person allows for each. */
const SUB_ID_FORMATS: Readonly<Record<string, { scope: string; of: SubjectIdentifier }>> = {
  opaque: { scope: 'openid', of: (_issuer, { id }) => ({ format: 'opaque', id }) },
  iss_sub: { scope: 'openid', of: (iss, { id: sub }) => ({ format: 'iss_sub', iss, sub }) },
  email: { scope: 'email', of: (_issuer, person) => emailOf(person) },
};

const ASSERTION_FORMATS = ['id_token'] as const;

export const SUBJECT_FORMATS = {
  sub_id_formats_supported: Object.keys(SUB_ID_FORMATS),
  assertion_formats_supported: ASSERTION_FORMATS,
} as const;

/** An unverified address does not identify the person. */
function emailOf(person: Person): object | undefined {
  const { email, email_verified: isVerified } = claimsOf(person, new Set(['email']));
  return isVerified === true ? { format: 'email', email } : undefined;
}

/**
 * Returns the items that a person is asked to allow so that a client learns who the person is. Unknown formats need no
 * items.
 */
export function subjectItems(subject: SubjectRequest | undefined): readonly ScopeItem[] {
  const { sub_id_formats: ids = [], assertion_formats: assertions = [] } = subject ?? {};
  const scopes = ids.flatMap((format) => SUB_ID_FORMATS[format]?.scope ?? []);
  const all = new Set([...scopes, ...(assertions.includes('id_token') ? ['openid'] : [])]);
  return [...all].map((scope) => ({ scope }));
}

interface Told {
  readonly clientId: string;
  readonly person: Person;
  readonly allowed: ReadonlySet<string>;
  /** The time of the sign-in as NumericDate. */
  readonly authTime: number;
  readonly assurance: Assurance;
}

/** Returns the member `subject` of an answer (RFC 9635 section 3.4), or undefined if it would be empty. */
export async function subjectAnswer(
  server: GnapServer,
  subject: SubjectRequest | undefined,
  told: Told,
): Promise<object | undefined> {
  const { sub_id_formats: ids = [], assertion_formats: assertions = [] } = subject ?? {};
  const { issuer } = server.config;
  const subIds = ids.flatMap((name) => {
    const format = SUB_ID_FORMATS[name];
    return (format && told.allowed.has(format.scope) && format.of(issuer, told.person)) || [];
  });
  const isTold = assertions.includes('id_token') && told.allowed.has('openid');
  const value = isTold ? await idToken(server, told) : undefined;
  if (subIds.length === 0 && value === undefined) return undefined;
  return {
    ...(subIds.length > 0 && { sub_ids: subIds }),
    ...(value !== undefined && { assertions: [{ format: 'id_token', value }] }),
    updated_at: new Date(server.clock.now()).toISOString(),
  };
}

/** Makes an ID token (OpenID Connect Core 1.0 section 2) for the client. */
async function idToken(
  server: GnapServer,
  { clientId, person, authTime, assurance }: Told,
): Promise<string> {
  const iat = epochSeconds(server.clock);
  const client = await server.stores.clients.get(clientId);
  const claims = {
    ...ruledClaims(client?.claim_rules, person),
    iss: server.config.issuer,
    sub: person.id,
    aud: clientId,
    iat,
    exp: iat + ID_TOKEN_LIFE,
    auth_time: authTime,
    ...assurance,
  };
  const { jwt } = await signedToken(await server.signingKeys(), 'RS256', 'JWT', claims);
  return jwt;
}
