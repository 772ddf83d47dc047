import type { Config } from './schema.ts';
import { everySpace } from './second-origin.ts';

/**
 * Returns the origins of the resource server with a space that accepts HOBA. A person can add a key to a browser at
 * these origins.
 */
export function hobaOrigins(
  config: Pick<Config, 'spaces' | 'resource' | 'tls'>,
): readonly string[] {
  const having = everySpace(config).filter(({ schemes }) => schemes.includes('HOBA'));
  const own = new Set([config.resource, config.tls?.resource]);
  const origins = having.map(({ url }) => new URL(url).origin);
  return [...new Set(origins)].filter((one) => own.has(one) && one.startsWith('https:'));
}
