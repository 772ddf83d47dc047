import { createHash } from 'node:crypto';

/** The purpose of a cookie: a session, sign-ins under way, or a sign-in that has just succeeded. */
type Purpose = 'session' | 'visit' | 'arrived';

/** Matches the names of all our cookies. */
const OURS = /^(?:__Host-)?countersign-/;

export const isSignInCookie = (name: string): boolean => OURS.test(name);

/**
 * Returns the name of a cookie for a space. It contains a hash of the space's URL: the session is for that space
 * alone, as the token behind it is, and cookies ignore ports. Over https only this host can set it (RFC 6265bis
 * section 4.1.3).
 */
export function cookieName(space: string, purpose: Purpose): string {
  const own = createHash('sha256').update(space).digest('base64url').slice(0, 12);
  return `${space.startsWith('https:') ? '__Host-' : ''}countersign-${purpose}-${own}`;
}

/**
 * Returns the value of Set-Cookie. With `seconds` 0 it removes the cookie; without, the cookie lasts until the browser
 * is closed.
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
