import { decodeJwt } from 'jose';
import * as z from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { privateJwkSchema } from './dpop.ts';
import { parseSafeUrl } from './http.ts';
import type { TokenAnswer } from './token-grant.ts';

const safeUrl = z.string().refine((value) => parseSafeUrl(value) !== undefined);

/** A login of `countersign login`, as it is stored. */
export const loginSchema = z.object({
  issuer: safeUrl,
  client_id: z.string(),
  /** The scope of the access token. */
  scope: z.string(),
  /** The requested scopes that the access token lacks. */
  left_out: z.string().optional(),
  /** Audience of the access token, which is sent nowhere else. Absent: no resource is known to accept the token. */
  resource: safeUrl.optional(),
  access_token: z.string(),
  /** Milliseconds since the epoch; absent when the server did not say. */
  expires_at: z.number().optional(),
  refresh_token: z.string().optional(),
  /** The key to which both tokens are bound (RFC 9449 sections 5 and 6). */
  private_jwk: privateJwkSchema,
});

export type Login = z.infer<typeof loginSchema>;

/**
 * Returns the members of a login that a token response sets. If the response has no refresh token or scope, the former
 * value stays (RFC 6749 sections 5.1 and 6).
 */
export function loginTokens(
  answer: Pick<TokenAnswer, 'access_token' | 'expires_in' | 'refresh_token' | 'scope'>,
  before: Partial<Pick<Login, 'scope' | 'refresh_token'>>,
  clock: Clock,
): Pick<Login, 'access_token' | 'expires_at' | 'refresh_token' | 'scope'> {
  const { access_token, expires_in, refresh_token = before.refresh_token, scope } = answer;
  return {
    access_token,
    scope: scope ?? before.scope ?? '',
    ...(expires_in !== undefined && { expires_at: clock.now() + expires_in * 1000 }),
    ...(refresh_token !== undefined && { refresh_token }),
  };
}

/** The parts of a new login: its request, key and clock. */
interface LoginParts {
  readonly asked: Pick<Login, 'issuer' | 'client_id'> & {
    readonly scope?: string | undefined;
    readonly resource?: string | undefined;
  };
  readonly privateJwk: Login['private_jwk'];
  readonly clock: Clock;
}

/**
 * Returns the login of a token response. Its resource is the audience of the token, or otherwise the requested
 * resource.
 */
export function newLogin(
  answer: Parameters<typeof loginTokens>[0],
  { asked, privateJwk, clock }: LoginParts,
): Login {
  const { issuer, client_id, scope } = asked;
  const resource = audienceOf(answer.access_token) ?? asked.resource;
  const tokens = loginTokens(answer, { ...(scope && { scope }) }, clock);
  const missing = parseScope(scope).difference(parseScope(tokens.scope));
  return {
    issuer,
    client_id,
    ...(resource !== undefined && { resource }),
    ...tokens,
    ...(missing.size > 0 && { left_out: [...missing].join(' ') }),
    private_jwk: privateJwk,
  };
}

const signInClaims = z.object({
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  auth_time: z.number().optional(),
});

/**
 * Returns how and when the person of a JWT access token signed in (RFC 9068 section 2.2.1). Empty for any other token.
 */
export function signInOf(accessToken: string): z.infer<typeof signInClaims> {
  try {
    return signInClaims.parse(decodeJwt(accessToken));
  } catch {
    return {};
  }
}

/**
 * Returns the only audience of a JWT access token (RFC 9068 section 2.2). The server may choose another resource than
 * the requested one, and only the token names it (RFC 8707 section 2.2). Undefined for any other token.
 */
export function audienceOf(accessToken: string): string | undefined {
  try {
    const { aud } = decodeJwt(accessToken);
    const [audience, ...others] = [aud ?? []].flat();
    return others.length === 0 && safeUrl.safeParse(audience).success ? audience : undefined;
  } catch {
    return undefined;
  }
}
