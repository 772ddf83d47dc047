import { realmNeeds } from '#shared/auth/schemes/realm-needs.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import { proxyUrl } from './proxy-url.ts';
import type { Config } from './schema.ts';
import { everySpace } from './second-origin.ts';

/** Returns what all spaces and the proxy need of each realm, at each of their origins. */
export function neededVerifiers(config: Config): RealmNeeds[] {
  const { proxy, listen } = config;
  return realmNeeds({
    spaces: everySpace(config),
    proxy: proxy && { ...proxy, url: proxyUrl(proxy, listen.proxy) },
  });
}
