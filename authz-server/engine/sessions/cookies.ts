import type { Configuration } from 'oidc-provider';
import { derivedKey } from '#shared/base/derived-key.ts';
import { cookieName } from '#shared/config/own-cookies.ts';
import type { AuthzServer } from '../../base/server.ts';

/** Returns the settings of the engine's cookies. */
export function cookies({
  config,
  master,
}: Pick<AuthzServer, 'config' | 'master'>): NonNullable<Configuration['cookies']> {
  const secure = config.issuer.startsWith('https:');
  const options = { httpOnly: true, sameSite: 'lax', signed: true, secure } as const;
  return {
    names: {
      session: cookieName(config, 'session'),
      interaction: cookieName(config, 'interaction'),
      resume: cookieName(config, 'resume'),
    },
    long: options,
    short: options,
    keys: [derivedKey(master, 'countersign authz cookies').toString('base64url')],
  };
}
