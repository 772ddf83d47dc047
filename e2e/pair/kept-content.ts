import type { Config } from '#shared/config/schema.ts';
import { keptContent as inSqlite } from '#shared/stores/sqlite/trees/kept-content.fixture.ts';
import { psql } from '../parts/postgres.ts';
import { redisCommand } from '../parts/redis-commands.ts';

/** Returns the content of a tree that the store of a pair keeps itself: bytes by name. The store is no cluster, and its primary is named first. */
export async function keptContent(
  { store, data }: Config,
  tree: string,
): Promise<ReadonlyMap<string, number>> {
  if (store.kind === 'sqlite') return inSqlite(data, tree);
  if (store.kind === 'postgres') {
    const { urls, schema } = store;
    const content = `SELECT file, octet_length(bytes) FROM ${schema}.content WHERE tree = '${tree}'`;
    const rows = (await psql(urls[0] ?? '', content)).split('\n').filter(Boolean);
    return new Map(
      rows.map((row) => row.split('|')).map(([file = '', length]) => [file, Number(length)]),
    );
  }
  const { hostname, port, password } = new URL(store.urls[0] ?? '');
  const place = { host: hostname, port: Number(port), ...(password && { password }) };
  const key = `{${store.prefix}:${encodeURIComponent(tree)}}:content`;
  const names = (await redisCommand(place, ['HKEYS', key])).split('\n').filter(Boolean);
  const lengths = names.map(async (name) => {
    const content = await redisCommand(place, ['HGET', key, name]);
    return [decodeURIComponent(name), Buffer.from(content, 'base64').length] as const;
  });
  return new Map(await Promise.all(lengths));
}
