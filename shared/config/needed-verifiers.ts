import { realmNeeds } from '#shared/auth/schemes/realm-needs.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import { proxyUrl } from './proxy-url.ts';
import type { Config } from './schema.ts';
import { everySpace } from './second-origin.ts';

/** Returns the password verifiers that the spaces and the proxy need, for each realm. */
export function neededVerifiers(config: Config): RealmNeeds[] {
  const { proxy, listen } = config;
  return realmNeeds({
    spaces: everySpace(config),
    proxy: proxy && { ...proxy, url: proxyUrl(proxy, listen.proxy) },
  });
}
