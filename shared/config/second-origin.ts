import type { Config, SpaceConfig } from './schema.ts';

/**
 * Returns the spaces, followed by the spaces of the resource server's clear-text origin once more at its TLS origin:
 * the same realm and the same documents, but a resource of its own for tokens (RFC 8707, RFC 9728).
 */
export function everySpace({
  spaces,
  resource,
  tls,
}: Pick<Config, 'spaces' | 'resource' | 'tls'>): readonly SpaceConfig[] {
  if (tls === undefined) return spaces;
  const again = spaces.flatMap((space) => {
    const { origin, pathname } = new URL(space.url);
    return origin === resource ? [Object.assign({}, space, { url: tls.resource + pathname })] : [];
  });
  return [...spaces, ...again];
}
