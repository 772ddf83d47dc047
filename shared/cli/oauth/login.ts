import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import { privateJwkSchema } from './dpop.ts';
import { parseSafeUrl } from './http.ts';
import type { TokenAnswer } from './token-answer.ts';

const safeUrl = z.string().refine((value) => parseSafeUrl(value) !== undefined);

/** What `countersign login` has got, as it is kept. */
export const loginSchema = z.object({
  issuer: safeUrl,
  client_id: z.string(),
  /** Of the access token. */
  scope: z.string(),
  /** Audience of the access token: it goes nowhere else. Absent: no resource is known to take it. */
  resource: safeUrl.optional(),
  access_token: z.string(),
  /** Milliseconds since the epoch; absent when the server did not say. */
  expires_at: z.number().optional(),
  refresh_token: z.string().optional(),
  /** Both tokens are bound to it (RFC 9449 sections 5 and 6). */
  private_jwk: privateJwkSchema,
});

export type Login = z.infer<typeof loginSchema>;

/**
 * The members of a login that a token answer brings. A refresh token and a scope that the answer does not
 * name stay what they were (RFC 6749 sections 5.1 and 6).
 */
export function loginTokens(
  answer: TokenAnswer,
  before: Partial<Pick<Login, 'scope' | 'refresh_token'>>,
  clock: Clock,
): Pick<Login, 'access_token' | 'expires_at' | 'refresh_token' | 'scope'> {
  const { access_token, expires_in, refresh_token = before.refresh_token, scope } = answer;
  return {
    access_token,
    scope: typeof scope === 'string' ? scope : (before.scope ?? ''),
    ...(typeof expires_in === 'number' && { expires_at: clock.now() + expires_in * 1000 }),
    ...(typeof refresh_token === 'string' && { refresh_token }),
  };
}

/**
 * The only audience of a JWT access token (RFC 9068 section 2.2): what the server made of the resource
 * that it was asked for, or chose itself, which no other member of its answer says (RFC 8707 section 2.2).
 * Undefined for any other token.
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
