import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** With more processes than this, they mostly wait for the store that they share. */
const MOST = 8;

export const USAGE = `Usage: countersign start [authz|resource] [--workers N]

Runs both servers in the foreground, or the one that is named.

  --workers N  processes for each server, 1 to ${MOST}; default: COUNTERSIGN_WORKERS, else 1 in development,
               otherwise one for each core
`;

/**
 * Flags of Node for the servers. Half of the usual memory for young objects costs no more CPU time. A start that
 * reserves all of it at once takes 60 to 160 ms less than a start whose heap grows. node:http loads no module that the
 * servers do not use. Flags that make V8 reject Node's own code cache are not here: shared/server/heap-flags.ts sets
 * them later.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=8',
  '--min-semi-space-size=8',
  '--import',
  new URL('../base/lean-http.js', import.meta.url).href,
];

/**
 * The environment of the servers. By default glibc gives each thread an arena of its own, which keeps freed memory. One
 * arena for all threads takes 15 MB less under load, and no more CPU time.
 */
export const ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };

/** The default number of processes of each server in production. */
export const cores = () => Math.min(availableParallelism(), MOST);

/**
 * @typedef {object} Options
 * @property {'authz' | 'resource' | undefined} server Undefined: both.
 * @property {number | undefined} workers Undefined: the default number.
 */

/**
 * Reads the arguments of `countersign start`. Throws an error that says what is wrong with the arguments. Undefined:
 * the arguments ask for help.
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Options | undefined}
 */
export function readOptions(args, env) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { workers: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return undefined;
  const [server, ...more] = positionals;
  if (more.length > 0 || (server !== undefined && server !== 'authz' && server !== 'resource')) {
    throw new Error(
      `${positionals.join(' ')} is no server: name authz or resource, or neither for both`,
    );
  }
  return {
    server,
    workers:
      values.workers === undefined && env['COUNTERSIGN_WORKERS']
        ? workersOf('COUNTERSIGN_WORKERS', env['COUNTERSIGN_WORKERS'])
        : workersOf('--workers', values.workers),
  };
}

/**
 * @param {string} name
 * @param {string | undefined} value
 */
function workersOf(name, value) {
  if (value === undefined) return undefined;
  const workers = Number(value);
  if (/^\d$/.test(value) && workers >= 1 && workers <= MOST) return workers;
  throw new Error(
    `${name} is ${JSON.stringify(value)}: it must be a whole number from 1 to ${MOST}`,
  );
}
