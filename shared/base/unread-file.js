import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The name that `config init` gives a configuration file. */
const USUAL_NAME = 'countersign.json';

/**
 * Returns a line about a configuration in the working directory that nothing reads, as COUNTERSIGN_CONFIG names none;
 * undefined: there is no such file, or COUNTERSIGN_CONFIG names one.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {string} folder The working directory.
 * @returns {string | undefined}
 */
export function unreadFile(env, folder = '.') {
  if (env['COUNTERSIGN_CONFIG'] || !existsSync(resolve(folder, USUAL_NAME))) return undefined;
  return `${USUAL_NAME} in this folder is not read: set COUNTERSIGN_CONFIG=${USUAL_NAME} if you mean it.`;
}
