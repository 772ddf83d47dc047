import type { Config, SpaceConfig } from './schema.ts';

/**
 * The spaces, and after them those of the resource server's origin a second time, at its origin of TLS:
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
