import { maskedUrl } from '#shared/base/masked-url.ts';
import type { Config } from './schema.ts';

/** Returns where the store is, without passwords. */
export function storeInWords({ store }: Config): string {
  if (store.kind === 'sqlite') return 'SQLite, in the data folder';
  const own = `PostgreSQL (schema ${store.schema}): ${store.urls.map(maskedUrl).join(', ')}`;
  if (store.redis === undefined) return own;
  return `${own}; Redis (${store.redis.mode}): ${store.redis.urls.map(maskedUrl).join(', ')}`;
}
