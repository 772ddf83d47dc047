import { errors } from 'oidc-provider';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { isKnownOrNone } from './acr-values.ts';

/** The most characters of the parameter `claims`. */
const LONGEST = 4096;

/** The places that can tell a claim, by their members of the parameter. */
const PLACES = ['id_token', 'userinfo'] as const;

type Members = Readonly<Record<string, unknown>>;

/** A claims request in the form that the server keeps. */
interface ClaimsRequest {
  /** Claims about the person, and `sub` and `acr` if the request names values for them. */
  readonly id_token: Members;
  /** Claims about the person. */
  readonly userinfo?: Members;
}

/**
 * Reads the parameter `claims` (OpenID Connect Core 1.0 section 5.5) of a client with these scopes. Returns only what
 * the server acts on, as text: claims that one of the scopes gives; `sub` with the one value that it may have; `acr`
 * with the values of which the sign-in must have one. Other claims are ignored (section 5.5.1). Throws
 * `invalid_request`, or `unmet_authentication_requirements` for an essential `acr` that no sign-in here has.
 */
export function readClaims(text: string, scopes: ReadonlySet<string>): string {
  if (text.length > LONGEST) throw wrong(`claims has at most ${LONGEST} characters`);
  const request = members(parsed(text), 'claims');
  const [ofIdToken, ofUserinfo] = PLACES.map((place) => {
    const asked = Object.entries(members(request[place] ?? {}, `claims.${place}`));
    return new Map(asked.map(([claim, how]) => [claim, demand(how, `claims.${place}.${claim}`)]));
  });
  const told = (asked: ReadonlyMap<string, Members> = new Map()) =>
    Object.fromEntries(
      claimsOfScopes(scopes).flatMap((claim) => (asked.has(claim) ? [[claim, null]] : [])),
    );
  const subjects = new Set([ofIdToken, ofUserinfo].flatMap((asked) => valuesOf(asked?.get('sub'))));
  if (subjects.size > 1) throw wrong('claims names more than one sub');
  const [sub] = subjects;
  const acr = acrOf(ofIdToken?.get('acr'));
  const kept: ClaimsRequest = {
    id_token: {
      ...told(ofIdToken),
      ...(sub !== undefined && { sub: { value: sub } }),
      ...(acr.length > 0 && { acr: { values: acr } }),
    },
    ...(request['userinfo'] !== undefined && { userinfo: told(ofUserinfo) }),
  };
  return JSON.stringify(kept);
}

/** Returns the kept form of a request, from the text of `readClaims`; a request without the parameter names nothing. */
export const claimsRequest = (text: unknown): ClaimsRequest =>
  typeof text === 'string' ? (JSON.parse(text) as ClaimsRequest) : { id_token: {} };

/** Returns the scopes among these that give one of the claims that a request names. */
export function scopesOfClaims(text: unknown, allowed: ReadonlySet<string>): readonly string[] {
  const { id_token, userinfo = {} } = claimsRequest(text);
  const named = new Set([...Object.keys(id_token), ...Object.keys(userinfo)]);
  return Object.entries(CLAIMS_OF_SCOPES)
    .filter(([scope, claims]) => allowed.has(scope) && claims.some((claim) => named.has(claim)))
    .map(([scope]) => scope);
}

/** Returns the claims that scopes give. */
export const claimsOfScopes = (scopes: Iterable<string>): string[] =>
  [...scopes].flatMap((scope) =>
    Object.hasOwn(CLAIMS_OF_SCOPES, scope) ? (CLAIMS_OF_SCOPES[scope] ?? []) : [],
  );

const wrong = (why: string) => new errors.InvalidRequest(why);

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (error instanceof StrictJsonError)
      throw wrong('claims has a member twice, or one that is no claim');
    throw error;
  }
}

function members(value: unknown, what: string): Members {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw wrong(`${what} must be an object`);
  }
  return value as Members;
}

/** Returns how a claim is asked for. Null asks for the claim in the usual way. */
function demand(how: unknown, what: string): Members {
  if (how === null) return {};
  const demanded = members(how, what);
  const { essential, values } = demanded;
  if (essential !== undefined && typeof essential !== 'boolean') {
    throw wrong(`${what}.essential must be true or false`);
  }
  if (values !== undefined && !Array.isArray(values)) throw wrong(`${what}.values must be a list`);
  return demanded;
}

/** Returns the values that a claim may have, which must be texts. */
function valuesOf({ value, values = [] }: Members = {}): readonly string[] {
  const all = [...(value === undefined ? [] : [value]), ...(values as readonly unknown[])];
  return all.map((one) => {
    if (typeof one !== 'string') throw wrong('the value of sub or acr in claims must be a text');
    return one;
  });
}

/**
 * Returns the values of which the sign-in must have one (section 5.5.1.1). A request that is not essential is ignored if
 * no sign-in here can meet it.
 */
function acrOf(demanded: Members | undefined): readonly string[] {
  const values = valuesOf(demanded).filter((value) => value !== '' && !value.includes(' '));
  if (isKnownOrNone(values.join(' '))) return values;
  if (demanded?.['essential'] !== true) return [];
  throw new errors.UnmetAuthenticationRequirements('no sign-in here has an acr of claims');
}
