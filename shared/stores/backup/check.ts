import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formerTables } from '../sqlite/file/migrate.ts';
import { STATE } from '../sqlite/schema/state.ts';
import { folderOf } from '../trees/tree-folder.ts';
import { IN_FILES } from './copy-content.ts';
import { digestOf, filesOf, readSums, SUMS } from './sums.ts';

/** Most faults that are reported of one backup. */
const MOST = 20;

/**
 * Reads every octet of a backup, changes nothing, and returns a list of its faults. A backup without faults can be restored.
 * The faults are:
 * - a file that is missing, was changed or was added
 * - a database that is damaged, was written by a newer release, or was used by servers
 * - a document whose content is missing or has another length
 * - a document whose content differs from its content in the backup `before`, since content never changes
 */
export function checkBackup(folder: string, before?: string): readonly string[] {
  try {
    const sums = readSums(folder);
    if (sums === undefined) return [`there is no ${SUMS}: it was not finished`];
    const wrong = [...wrongFiles(folder, sums)];
    if (wrong.length > 0) return wrong.slice(0, MOST);
    return wrongState(folder, sums, before).slice(0, MOST);
  } catch (error) {
    return [(error as Error).message];
  }
}

type Sums = ReadonlyMap<string, string>;

function* wrongFiles(folder: string, sums: Sums): Generator<string> {
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

/** Returns the faults of the database, of which SQLite reads each page. */
function wrongState(folder: string, sums: Sums, before: string | undefined): readonly string[] {
  const url = pathToFileURL(join(folder, STATE.file));
  // SQLite then writes nothing beside the file, so a check works on a read-only disk.
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
  const formerSums = before === undefined ? undefined : sumsIn(before);

  function wrongWith(file: string, length: unknown): string | undefined {
    const digest = sums.get(file);
    if (digest === undefined) return 'is missing';
    const { size } = lstatSync(join(folder, file));
    if (size !== length) return `has ${size} bytes, not ${String(length)}`;
    return (formerSums?.get(file) ?? digest) === digest ? undefined : `was another in ${before}`;
  }

  return rows(DOCUMENTS_IN_FILES).flatMap(([tree, id, name, length]) => {
    const file = `content/${folderOf(String(tree))}/${String(name)}`;
    const wrong = wrongWith(file, length);
    if (wrong === undefined) return [];
    // A removed document has no path.
    const paths = database.prepare(PATH).all(id as number) as unknown as readonly [path: string][];
    return paths.map(
      ([path]) => `the document ${String(tree)}/${path} is damaged: ${file} ${wrong}`,
    );
  });
}

/** Returns undefined if the sums are damaged: that is no fault of the new backup. */
function sumsIn(before: string): Sums | undefined {
  try {
    return readSums(before);
  } catch {
    return undefined;
  }
}

const DOCUMENTS_IN_FILES = `SELECT tree, id, file, length FROM resource
  WHERE ${IN_FILES} ORDER BY tree, file, id`;

/** In SQL: the path of a row, unless the row or a collection above it was removed. */
const PATH = `WITH RECURSIVE up (parent, path) AS (
    SELECT parent, name FROM resource WHERE id = ?
    UNION ALL
    SELECT resource.parent, resource.name || '/' || path FROM up JOIN resource ON resource.id = up.parent
  )
  SELECT path FROM up WHERE parent = 0`;
