import { cacheName } from '#shared/config/cache-schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { originForm, parsePassedTarget, parseTarget } from '#shared/http/target.ts';
import { Missing } from '../operation.ts';
import type { Words } from '#shared/refusals/words.ts';
import { said } from '#shared/refusals/operations.ts';

export interface CachedAddress {
  /** The space's name in invalidations. */
  readonly space: string;
  /** Path and query in their original spelling. */
  readonly target: string;
}

/** Returns the name of a URL in the cache of its space. Throws `Missing` if no cache has it. */
export function cachedAddress(config: Config, url: string): CachedAddress {
  const target = parsePassedTarget(url);
  if (target?.form !== 'absolute') {
    throw new Missing(said('not-asked-url', { url }));
  }
  const { origin } = new URL(url);
  const segments = target.segments.map((segment) => segment.normalize('NFC'));
  const [space] = everySpace(config)
    .filter((one) => new URL(one.url).origin === origin && beginsWith(segments, namesOf(one)))
    .toSorted((a, b) => namesOf(b).length - namesOf(a).length);
  if (!space?.cache) throw new Missing(noCache(url, config));
  return { space: cacheName(space.url), target: originForm(url) };
}

function namesOf({ url }: SpaceConfig): readonly string[] {
  const names = parseTarget(new URL(url).pathname)?.segments ?? [];
  return names.map((name) => name.normalize('NFC'));
}

const beginsWith = (segments: readonly string[], start: readonly string[]) =>
  start.every((name, at) => name === segments[at]);

function noCache(url: string, config: Config): Words {
  const urls = config.spaces.flatMap((space) => (space.cache ? space.url : []));
  return urls.length === 0
    ? said('no-cache', { url })
    : said('no-cache-there', { url, spaces: urls.join(', ') });
}
