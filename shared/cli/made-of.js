// The record of the files of which a bundle was made: plain JavaScript for any Node from 16 on, as the launcher.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';

/**
 * Each start reads this: lists, which take less memory. The files are named from the folder of the bundle on: a clone that
 * was copied is of its own files. `changed` has their times of change (ctime), which nobody can set.
 * @typedef {{ files: readonly string[], changed: number[] }} MadeOf
 */
const MADE_OF = 'made-of.json';
/**
 * In the same order, read where a file was touched.
 * @typedef {{ sizes: readonly number[], digests: readonly string[] }} Content
 */
const CONTENT = 'made-of-content.json';

const MISSING = { size: -1, ctimeMs: -1 };

/**
 * Whether a bundle in the folder is of the files as they are now. A file that was written, moved or copied without another
 * content counts as the same, and the next start does not read it again.
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
      // Not normalized: that would take 8 MB of a process that stays.
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
 * Writes to the folder that what lies there is of these files, as they are now.
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
 * The sizes are looked at first: most changes are seen by them, and then nothing is read.
 * @param {Content} content
 * @param {ReadonlyMap<number, string>} touched
 */
async function isSame({ sizes, digests }, touched) {
  const all = [...touched];
  if (all.some(([index, path]) => statOf(path).size !== sizes[index])) return false;
  const digestOf = await digester();
  return all.every(([index, path]) => digestOf(path) === digests[index]);
}

/** Resolves to a function that returns the digest of a file. The module is loaded only where a file was touched. */
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
 * Where it cannot be written, the next start reads the files again.
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
