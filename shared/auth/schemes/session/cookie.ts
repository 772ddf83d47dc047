import { createHash } from 'node:crypto';

/** The purpose of a cookie: a session, a sign-in under way, or a sign-in that has just succeeded. */
type Purpose = 'session' | 'visit' | 'arrived';

/** Matches the names of all cookies of this server. */
const OURS = /^(?:__Host-)?countersign-/;

export const isSignInCookie = (name: string): boolean => OURS.test(name);

/**
 * Returns the name of a cookie for a space. The name contains a hash of the space's URL for two reasons: a session is
 * for one space, as its token is, and cookies ignore ports. Over https no other host can set the cookie (RFC 6265bis
 * section 4.1.3).
 */
export function cookieName(space: string, purpose: Purpose): string {
  const own = createHash('sha256').update(space).digest('base64url').slice(0, 12);
  return `${space.startsWith('https:') ? '__Host-' : ''}countersign-${purpose}-${own}`;
}

/**
 * Returns the value of Set-Cookie. `seconds` 0 removes the cookie; without `seconds` the cookie lasts until the
 * browser is closed.
 */
export function setCookie(space: string, name: string, value: string, seconds?: number): string {
  return [
    `${name}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    ...(space.startsWith('https:') ? ['Secure'] : []),
    ...(seconds === undefined ? [] : [`Max-Age=${seconds}`]),
  ].join('; ');
}
