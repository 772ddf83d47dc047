import type { Connection } from './connection.ts';
import { giveRowsToDigest } from './migrations/digest-rows.ts';
import { giveRowsToAllSchemes } from './migrations/verifier-rows.ts';

/**
 * From each schema to the next. Others may do the same at once, be further, or have been stopped halfway. Each
 * has all that it writes with in its own file: what is changed later does not change it.
 */
const MIGRATIONS = [giveRowsToDigest, giveRowsToAllSchemes];

/** Layout of the keys; a change that older code would misread makes it one higher. */
export const SCHEMA = 1 + MIGRATIONS.length;

/** Brings up to date what an older version has written. */
export async function migrate(redis: Connection, prefix: string): Promise<void> {
  const key = `{${prefix}}:schema`;
  const found = Number(await redis.command<string>('GET', key));
  if (found >= SCHEMA) return;
  for (const migration of MIGRATIONS.slice(found - 1)) await migration(redis, prefix);
  await redis.durableCommand('SET', key, String(SCHEMA));
}
