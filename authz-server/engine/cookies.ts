import type { Configuration } from 'oidc-provider';
import { derivedKey } from '#shared/base/derived-key.ts';
import { hostCookieName } from '../pages/cookie-name.ts';
import type { AuthzServer } from '../server.ts';

/**
 * The engine's cookies. Over https their prefix keeps other hosts from setting them (RFC 6265bis section
 * 4.1.3); those of an interaction have its path, so that two tabs do not disturb one another.
 */
export function cookies({
  config,
  master,
}: Pick<AuthzServer, 'config' | 'master'>): NonNullable<Configuration['cookies']> {
  const secure = config.issuer.startsWith('https:');
  const prefix = secure ? '__Secure-' : '';
  const options = { httpOnly: true, sameSite: 'lax', signed: true, secure } as const;
  return {
    names: {
      session: hostCookieName(config, 'session'),
      interaction: `${prefix}interaction`,
      resume: `${prefix}resume`,
    },
    long: options,
    short: options,
    keys: [derivedKey(master, 'countersign authz cookies').toString('base64url')],
  };
}
