import type { Config } from '#shared/config/schema.ts';
import { keptContent as inSqlite } from '#shared/stores/sqlite/trees/kept-content.fixture.ts';
import { psql } from '../parts/postgres.ts';

/**
 * Returns the content of a tree that the pair's store keeps in rows: bytes by name. The primary is named
 * first.
 */
export async function keptContent(
  { store, data }: Config,
  tree: string,
): Promise<ReadonlyMap<string, number>> {
  if (store.kind === 'sqlite') return inSqlite(data, tree);
  const { urls, schema } = store;
  const content = `SELECT file, octet_length(bytes) FROM ${schema}.content WHERE tree = '${tree}'`;
  const rows = (await psql(urls[0] ?? '', content)).split('\n').filter(Boolean);
  return new Map(
    rows.map((row) => row.split('|')).map(([file = '', length]) => [file, Number(length)]),
  );
}
