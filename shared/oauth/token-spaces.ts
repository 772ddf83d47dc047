import { everySpace } from '#shared/config/second-origin.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';

/** The spaces that take access tokens: the resources for which there are some (RFC 8707). */
export function tokenSpaces(
  config: Pick<Config, 'spaces' | 'resource' | 'tls'>,
): readonly SpaceConfig[] {
  return everySpace(config).filter(
    ({ schemes }) => schemes.includes('Bearer') || schemes.includes('DPoP'),
  );
}
