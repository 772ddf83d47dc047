import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** More than that and the store, which all share, is what they wait for. */
const MOST = 8;

export const USAGE = `Usage: countersign start [authz|resource] [--workers N]

Runs both servers in the foreground, or the one that is named.

  --workers N  processes for each server, 1 to ${MOST}; default: COUNTERSIGN_WORKERS, else 1 in development,
               otherwise one for each core
`;

/**
 * Flags of Node for the servers. Half of the memory for young objects costs no more CPU time; a start that has all
 * of it at once takes 60 to 160 ms less than one that grows from nothing. And node:http loads nothing that nobody uses.
 * None with which V8 rejects what Node has compiled of itself: shared/server/heap-flags.ts sets those later.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=8',
  '--min-semi-space-size=8',
  '--import',
  new URL('../base/lean-http.js', import.meta.url).href,
];

/**
 * The environment of the servers. glibc gives each thread an arena of its own, which keeps what was freed: one for all
 * takes 15 MB less under load, and no more CPU time.
 */
export const ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };

/** Processes for each server where it can be reached from elsewhere and nobody says how many. */
export const cores = () => Math.min(availableParallelism(), MOST);

/**
 * @typedef {object} Options
 * @property {'authz' | 'resource' | undefined} server Undefined: both.
 * @property {number | undefined} workers Undefined: as many as is usual.
 */

/**
 * Throws an error that says what is wrong with them. Undefined: somebody asks for help.
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
