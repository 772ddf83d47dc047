// The servers, as `countersign start` and the image run them. The process that stays beside them is plain JavaScript
// without a package: loading TypeScript alone takes 17 MB.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { unreadFile } from '#shared/base/unread-file.js';
import { ENVIRONMENT, NODE_FLAGS, readOptions, USAGE } from './options.js';
import { runServers } from './servers.js';

const AUTHZ = file('authz-server/main');

const PARTS = {
  authz: { name: 'authorization server', log: 'authz', file: AUTHZ },
  resource: {
    name: 'resource server',
    log: 'resource',
    file: file('resource-server/main'),
    playground: { file: file('resource-server/playground'), authz: AUTHZ },
  },
};

/** @param {string} entry */
function file(entry) {
  const source = new URL(`../../${entry}.ts`, import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL(`../../${entry}.js`, import.meta.url));
}

/** @param {string} text */
const complain = (text) => void process.stderr.write(`${text}\n`);

async function start() {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const unread = unreadFile(process.env);
  if (unread !== undefined) complain(unread);
  const { server, workers } = options;
  const ready = server
    ? [
        'Ctrl-C ends it when the requests in flight are done.',
        `The ${PARTS[server].name} is ready.`,
      ]
    : ['Ctrl-C ends both servers when the requests in flight are done.', 'Both are ready.'];
  return runServers(server ? [PARTS[server]] : Object.values(PARTS), workers, {
    env: {
      ...ENVIRONMENT,
      ...process.env,
      ...(server ? {} : { COUNTERSIGN_PAIR: '1' }),
      // Whether a person reads the banner on a terminal. Otherwise a file may keep it.
      COUNTERSIGN_TERMINAL: process.stdout.isTTY ? '1' : '',
    },
    execArgv: ['--disable-sigusr1', ...NODE_FLAGS, ...process.execArgv],
    clock: performance, // a clock that cannot be set
    signals: process,
    announce: (lines) => void process.stdout.write(`${[...lines, ...ready].join('\n')}\n`),
    complain,
    terminal: [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY),
    log: (line) => complain(JSON.stringify({ time: new Date(), ...line })),
  });
}

// Without this listener, SIGUSR1 would make Node open a debugger, to which any user may connect. Workers have the
// option --disable-sigusr1.
process.on('SIGUSR1', () => {});
// The reader of standard output or error is gone: the servers go on.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
try {
  process.exitCode = await start();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
