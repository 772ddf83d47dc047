import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import type { Schema } from './schema.ts';

/** Marks files whose tables began with version 1. */
const APPLICATION = 0x43_73_67_6e;

/** Applies the missing migrations, and writes which processes may use the file. */
export function migrate(database: DatabaseSync, { file, migrations, oldest }: Schema): void {
  const known = migrations.length;
  const version = () => Number(database.prepare('PRAGMA user_version').all().flat()[0]);
  const former = formerTables(database, file);
  if (former !== undefined) throw new StoreUnavailable(former);
  if (version() === known) return;
  database.exec('BEGIN EXCLUSIVE');
  try {
    const found = version();
    if (found > known) demandCompatible(database, file, found, known);
    else if (found < known) {
      for (const migration of migrations.slice(found)) database.exec(migration);
      database.exec(
        `CREATE TABLE IF NOT EXISTS schema (
           one INTEGER PRIMARY KEY CHECK (one = 1),
           version INTEGER NOT NULL,
           oldest INTEGER NOT NULL
         ) STRICT;
         INSERT OR REPLACE INTO schema (one, version, oldest) VALUES (1, ${known}, ${oldest ?? known});
         PRAGMA application_id = ${APPLICATION};
         PRAGMA user_version = ${known};`,
      );
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Returns why tables from before version 1 cannot be used; undefined: the tables are newer. */
export function formerTables(database: DatabaseSync, file: string): string | undefined {
  const [version, id] = ['user_version', 'application_id'].map((name) =>
    Number(database.prepare(`PRAGMA ${name}`).all().flat()[0]),
  );
  if (version === 0 || id === APPLICATION) return undefined;
  return `${file} was made by a build of before version 1. Write its people to a file with that build (\`directory export\`), write 1 in place of 6 as its countersign_directory, start this one with another data folder, and read them there (\`directory import\`); clients, documents, sign-ins and the audit log stay behind`;
}

/** Throws `StoreUnavailable` if a process that knows only schema `known` may not use a file of schema `found`. */
function demandCompatible(database: DatabaseSync, file: string, found: number, known: number) {
  const oldest = Number(database.prepare('SELECT oldest FROM schema').all().flat()[0] ?? found);
  if (oldest <= known) return;
  throw new StoreUnavailable(
    `${file} has schema version ${found}, made by a newer release; this one knows versions up to ${known}, and the file needs ${oldest}. Start the newer release, or restore a backup from before the upgrade`,
  );
}
