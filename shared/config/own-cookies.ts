import type { Config } from './schema.ts';

/**
 * The purposes of our cookies. Cookies of an interaction have its path, so that two tabs do not overwrite each other's
 * cookies.
 */
const HOST = ['session', 'csrf', 'known', 'way'] as const;
const OF_A_PATH = ['interaction', 'resume'] as const;

type Purpose = (typeof HOST)[number] | (typeof OF_A_PATH)[number];

/**
 * Returns the name of a cookie of the authorization server. Over https only this host can set the cookie (RFC 6265bis
 * section 4.1.3). Browsers refuse a name with `__Host-` unless the cookie came over https, for the path `/` and without
 * a domain. They refuse `__Secure-` unless the cookie came over https.
 */
export function cookieName({ issuer }: Pick<Config, 'issuer'>, purpose: Purpose): string {
  if (!issuer.startsWith('https:')) return `countersign-${purpose}`;
  return `${OF_A_PATH.some((one) => one === purpose) ? '__Secure-' : '__Host-'}${purpose}`;
}

/** Returns the names of all our cookies, and of the cookies with their signatures. */
export function ownCookies(config: Pick<Config, 'issuer'>): ReadonlySet<string> {
  const names = [...HOST, ...OF_A_PATH].map((purpose) => cookieName(config, purpose));
  return new Set(names.flatMap((name) => [name, `${name}.sig`]));
}
