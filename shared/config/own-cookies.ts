import type { Config } from './schema.ts';

/** The cookies by their use. Those of an interaction have its path, so that two tabs do not disturb one another. */
const HOST = ['session', 'csrf', 'known', 'way'] as const;
const OF_A_PATH = ['interaction', 'resume'] as const;

type Purpose = (typeof HOST)[number] | (typeof OF_A_PATH)[number];

/**
 * The name of a cookie of the authorization server. Over https it can be set by this host alone (RFC 6265bis section
 * 4.1.3): browsers refuse `__Host-` unless it came over https, for the path `/` and without a domain, and
 * `__Secure-` unless it came over https.
 */
export function cookieName({ issuer }: Pick<Config, 'issuer'>, purpose: Purpose): string {
  if (!issuer.startsWith('https:')) return `countersign-${purpose}`;
  return `${OF_A_PATH.some((one) => one === purpose) ? '__Secure-' : '__Host-'}${purpose}`;
}

/** Names of all of them, with those of their signatures. */
export function ownCookies(config: Pick<Config, 'issuer'>): ReadonlySet<string> {
  const names = [...HOST, ...OF_A_PATH].map((purpose) => cookieName(config, purpose));
  return new Set(names.flatMap((name) => [name, `${name}.sig`]));
}
