import { get } from 'node:http';
import { localOrigin } from '#shared/config/local-origin.ts';
import { type ServerName, SERVERS } from '#shared/config/server-name.ts';
import { listenersOf } from './listeners.ts';

/** Milliseconds within which a server must answer. */
const PATIENCE = 3000;

const IN_WORDS = {
  ready: 'is ready',
  unready: 'is not ready',
  away: 'does not run here',
} as const;

type State = keyof typeof IN_WORDS;

const NAMES: Readonly<Record<ServerName, string>> = {
  authz: 'The authorization server',
  resource: 'The resource server',
};

/** Asks the servers of this machine whether they are ready. Resolves to the report of `server ready`. */
export async function readiness(env: NodeJS.ProcessEnv) {
  const listeners = listenersOf(env);
  const servers = await Promise.all(
    SERVERS.map(async (server) => ({
      server,
      state: await stateAt(localOrigin(listeners[server])),
    })),
  );
  const states = new Set(servers.map(({ state }) => state));
  return {
    json: { servers },
    lines: servers.map(({ server, state }) => `${NAMES[server]} ${IN_WORDS[state]}.`),
    failed: !states.has('ready') || states.has('unready'),
  };
}

function stateAt(origin: string | undefined): Promise<State> {
  const { promise, resolve } = Promise.withResolvers<State>();
  if (origin === undefined) return Promise.resolve('away');
  get(
    `${origin}/health/ready?for=reading`,
    { agent: false, signal: AbortSignal.timeout(PATIENCE) },
    (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? 'ready' : 'unready');
    },
  ).on('error', ({ code }: NodeJS.ErrnoException) => {
    resolve(code === 'ECONNREFUSED' ? 'away' : 'unready');
  });
  return promise;
}
