// The record of the source files of a bundle. This is plain JavaScript for any Node from 16 on, like the launcher.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';

/**
 * Each start reads this record. It has lists, which take less memory than objects. Paths are relative to the folder of
 * the bundle, so that a copied clone compares its own files. `changed` has their ctime, which users cannot set.
 * @typedef {{ files: readonly string[], changed: number[] }} MadeOf
 */
const MADE_OF = 'made-of.json';
/**
 * Sizes and digests in the order of `files`. They are read only if a file's ctime has changed.
 * @typedef {{ sizes: readonly number[], digests: readonly string[] }} Content
 */
const CONTENT = 'made-of-content.json';

const MISSING = { size: -1, ctimeMs: -1 };

/**
 * Whether the bundle in the folder was made of the present source files. A file that was rewritten, moved or copied
 * with equal content counts as the same, and the next start does not read it again.
 * @param {string} folder
 * @returns {Promise<boolean>}
 */
export async function isAsMade(folder) {
  try {
    /** @type {MadeOf} */
    const made = read(folder, MADE_OF);
    /** @type {Map<number, string>} */
    const touched = new Map();
    for (const [index, file] of made.files.entries()) {
      // The path is not normalized: that would cost a long-running process 8 MB.
      const path = `${folder}/${file}`;
      if (statOf(path).ctimeMs !== made.changed[index]) touched.set(index, path);
    }
    if (touched.size === 0) return true;
    if (!(await isSame(read(folder, CONTENT), touched))) return false;
    for (const [index, path] of touched) made.changed[index] = statOf(path).ctimeMs;
    keep(folder, made);
    return true;
  } catch {
    return false;
  }
}

/**
 * Records in the folder of a bundle that it was made of these files in their present state.
 * @param {string} folder
 * @param {readonly string[]} files
 */
export async function noteMadeOf(folder, files) {
  const paths = files.map((file) => `${folder}/${file}`);
  const stats = paths.map((path) => statOf(path));
  const digests = paths.map(await digester());
  write(folder, CONTENT, { sizes: stats.map(({ size }) => size), digests });
  write(folder, MADE_OF, { files, changed: stats.map(({ ctimeMs }) => ctimeMs) });
}

/**
 * Compares sizes first, since most changes change the size; then no file need be read.
 * @param {Content} content
 * @param {ReadonlyMap<number, string>} touched
 */
async function isSame({ sizes, digests }, touched) {
  const all = [...touched];
  if (all.some(([index, path]) => statOf(path).size !== sizes[index])) return false;
  const digestOf = await digester();
  return all.every(([index, path]) => digestOf(path) === digests[index]);
}

/** Resolves to a function that returns the digest of a file. It loads node:crypto only if a file was touched. */
async function digester() {
  const { createHash } = await import('node:crypto');
  /** @param {string} path */
  return (path) =>
    statOf(path) === MISSING
      ? ''
      : createHash('sha256').update(readFileSync(path)).digest('base64');
}

/** @param {string} path */
const statOf = (path) => statSync(path, { throwIfNoEntry: false }) ?? MISSING;

/**
 * Saves the record. If that fails, the next start reads the files again.
 * @param {string} folder
 * @param {MadeOf} made
 */
function keep(folder, made) {
  try {
    write(folder, MADE_OF, made);
  } catch {}
}

/**
 * @param {string} folder
 * @param {string} name
 */
const read = (folder, name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));

/**
 * @param {string} folder
 * @param {string} name
 * @param {MadeOf | Content} record
 */
function write(folder, name, record) {
  const partial = `${folder}/${name}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(record));
  renameSync(partial, `${folder}/${name}`);
}
