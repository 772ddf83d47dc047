import { isRedisUrl } from '#shared/stores/redis-url.ts';
import type { RedisSettings } from '#shared/stores/settings.ts';

export type RedisUrl = Pick<RedisSettings, 'mode' | 'urls'>;

/** The form of `COUNTERSIGN_REDIS_URL`, for messages. */
export const REDIS_URL_FORM =
  'must be redis://host:port, sentinel:redis://a:26379,redis://b:26379 or cluster:redis://a:6379,redis://b:6379 (rediss:// for TLS)';

/**
 * `[sentinel:|cluster:]url[,url...]`: the prefix chooses the mode; without one it is a single server.
 * A comma within a password is written `%2C`. Undefined when the value has another form.
 */
export function parseRedisUrl(value: string): RedisUrl | undefined {
  const [, mode = 'single', list = ''] = /^(?:(sentinel|cluster):)?(.*)$/s.exec(value) ?? [];
  const urls = list.split(',').map((url) => url.trim());
  if (mode === 'single' && urls.length > 1) return undefined;
  if (!urls.every(isRedisUrl)) return undefined;
  return { mode: mode as RedisSettings['mode'], urls };
}
