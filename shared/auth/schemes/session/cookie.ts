import { createHash } from 'node:crypto';

/** What a cookie is for: a session; a sign-in under way, which has a name of its own; one that has just ended well. */
type Purpose = 'session' | `visit-${string}` | 'arrived';

/** All that are ours begin so. */
const OURS = /^(?:__Host-)?countersign-/;

export const isSignInCookie = (name: string): boolean => OURS.test(name);

/**
 * The name of a cookie at the origin of a space. Its session is for that space alone, as the token behind it is, and
 * cookies know no ports, so a hash of its URL is in each. Over https nobody but this host can set it (RFC 6265bis
 * section 4.1.3).
 */
export function cookieName(space: string, purpose: Purpose): string {
  const own = createHash('sha256').update(space).digest('base64url').slice(0, 12);
  return `${space.startsWith('https:') ? '__Host-' : ''}countersign-${purpose}-${own}`;
}

/** The value of Set-Cookie; `seconds`: 0 removes it, absent: until the browser ends. */
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
