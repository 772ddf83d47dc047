import type { Config, SpaceConfig } from '#shared/config/schema.ts';

/** The spaces that take access tokens: the resources for which there are some (RFC 8707). */
export function tokenSpaces({ spaces }: Pick<Config, 'spaces'>): readonly SpaceConfig[] {
  return spaces.filter(({ schemes }) => schemes.includes('Bearer') || schemes.includes('DPoP'));
}
