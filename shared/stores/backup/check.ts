import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formerTables } from '../sqlite/file/connection.ts';
import { STATE } from '../sqlite/schema/state.ts';
import { folderOf } from '../trees/tree-folder.ts';
import { digestOf, filesOf, readSums, SUMS } from './sums.ts';

/** Mistakes that are told of one backup. */
const MOST = 20;

/**
 * Reads every octet of a backup, changes nothing, and returns what is wrong with it: a file that is missing, was changed or
 * was added, a damaged database, one that a newer release has made or that servers have used, and documents whose content
 * the backup lacks, or has with another length. Empty: it can be restored.
 */
export function checkBackup(folder: string): readonly string[] {
  try {
    const sums = readSums(folder);
    if (sums === undefined) {
      return [`there is no ${SUMS}: it was not finished, or an older release has made it`];
    }
    const wrong = [...wrongFiles(folder, sums)];
    return wrong.length > 0 ? wrong.slice(0, MOST) : wrongState(folder, sums).slice(0, MOST);
  } catch (error) {
    return [(error as Error).message];
  }
}

function* wrongFiles(folder: string, sums: ReadonlyMap<string, string>): Generator<string> {
  if (!sums.has(STATE.file)) yield `${SUMS} lacks ${STATE.file}`;
  for (const [file, digest] of sums) {
    const path = join(folder, file);
    if (!existsSync(path)) yield `${file} is missing`;
    else if (digestOf(path) !== digest) yield `${file} was changed`;
  }
  for (const file of filesOf(folder)) {
    if (!sums.has(file) && existsSync(join(folder, file))) yield `${file} was added`;
  }
  if (existsSync(join(folder, `${STATE.file}-wal`))) yield 'servers have used it';
}

/** Returns the mistakes of the database, of which SQLite reads each page. */
function wrongState(folder: string, sums: ReadonlyMap<string, string>): readonly string[] {
  const url = pathToFileURL(join(folder, STATE.file));
  // Nothing is written beside it, so that a check works on a disk that is read-only.
  url.searchParams.set('immutable', '1');
  using database = new DatabaseSync(url, { readOnly: true, returnArrays: true });
  const rows = (sql: string) =>
    database.prepare(sql).all() as unknown as readonly (readonly unknown[])[];
  const damage = rows('PRAGMA integrity_check').flat().map(String);
  if (damage.join('') !== 'ok') return damage.map((text) => `${STATE.file}: ${text}`);
  const former = formerTables(database, STATE.file);
  if (former !== undefined) return [former];
  const version = Number(rows('PRAGMA user_version').flat()[0]);
  const known = STATE.migrations.length;
  if (version > known) {
    return [
      `${STATE.file} has schema version ${version}; this release knows versions up to ${known}`,
    ];
  }
  const used = rows('SELECT 1 FROM epoch UNION ALL SELECT 1 FROM artefact').length > 0;
  if (used) return ['servers have used it: it has tokens or grants'];
  return rows(DOCUMENTS_IN_FILES).flatMap(([tree, id, name, length]) => {
    const file = `content/${folderOf(String(tree))}/${String(name)}`;
    const found = sums.has(file) ? lstatSync(join(folder, file)).size : undefined;
    if (found === length) return [];
    const wrong = found === undefined ? 'is missing' : `has ${found} bytes, not ${String(length)}`;
    // A document that was removed has no path any more.
    const paths = database.prepare(PATH).all(id as number) as unknown as readonly [path: string][];
    return paths.map(
      ([path]) => `the document ${String(tree)}/${path} is damaged: ${file} ${wrong}`,
    );
  });
}

const DOCUMENTS_IN_FILES = `SELECT tree, id, file, length FROM resource
  WHERE file IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM content WHERE content.tree = resource.tree AND content.file = resource.file)
  ORDER BY tree, file, id`;

/** In SQL: the path of a row, unless it is, or is in, something that was removed. */
const PATH = `WITH RECURSIVE up (parent, path) AS (
    SELECT parent, name FROM resource WHERE id = ?
    UNION ALL
    SELECT resource.parent, resource.name || '/' || path FROM up JOIN resource ON resource.id = up.parent
  )
  SELECT path FROM up WHERE parent = 0`;
