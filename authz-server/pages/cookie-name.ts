import type { Config } from '#shared/config/schema.ts';

/**
 * Over https a cookie of ours can be set by this host alone (RFC 6265bis section 4.1.3.2): `__Host-` is
 * refused by browsers unless it came over https, for the path `/` and without a domain.
 */
export function hostCookieName({ issuer }: Pick<Config, 'issuer'>, name: string): string {
  return issuer.startsWith('https:') ? `__Host-${name}` : name;
}
