import { request } from 'undici';
import { loadConfig } from '#shared/config/load.ts';
import { localOrigin } from '#shared/config/local-origin.ts';
import { type ServerName, SERVERS } from '#shared/config/server-name.ts';
import type { Command } from '../arguments/command.ts';

/** Milliseconds within which a server must answer. */
const PATIENCE = 3000;

const IN_WORDS = {
  ready: 'is ready',
  unready: 'is not ready',
  away: 'does not run here',
} as const;

export const serverReady: Command = {
  name: 'server ready',
  summary: 'ask the servers of this machine whether they are ready, as the check of a container',
  details: [
    'It asks where the configuration lets them listen. It fails if no server runs here, or if a running server is not',
    'ready to answer requests that only read.',
  ],
  run: async (_, { env }) => {
    const { listen } = await loadConfig(env);
    const servers = await Promise.all(
      SERVERS.map(async (server) => ({ server, state: await stateAt(listen[server]) })),
    );
    return {
      json: { servers },
      lines: servers.map(({ server, state }) => `${NAMES[server]} ${IN_WORDS[state]}.`),
      failed: !servers.some(isAt('ready')) || servers.some(isAt('unready')),
    };
  },
};

type State = keyof typeof IN_WORDS;

const isAt = (state: State) => (one: { readonly state: State }) => one.state === state;

const NAMES: Readonly<Record<ServerName, string>> = {
  authz: 'The authorization server',
  resource: 'The resource server',
};

async function stateAt(listener: Parameters<typeof localOrigin>[0]): Promise<State> {
  const origin = localOrigin(listener);
  if (origin === undefined) return 'away';
  try {
    const { statusCode, body } = await request(`${origin}/health/ready?for=reading`, {
      signal: AbortSignal.timeout(PATIENCE),
    });
    await body.dump();
    return statusCode === 200 ? 'ready' : 'unready';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'away' : 'unready';
  }
}
